"""What runs regularly on a machine: timers of systemd and jobs of cron, if these themselves run.

That a unit is enabled, or that a file lies in ``/etc/cron.weekly``, says nothing in a container, or
with another init: systemd is process 1, or its timers never elapse; and cron's jobs need a cron.
What cannot be seen is not taken for either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from ssdlab.ground.unread import Unread
from ssdlab.machine.audit.units import is_enabled, is_masked
from ssdlab.real.system import System

_CRONS = ("cron", "crond", "fcron", "dcron", "bcron-sched", "systemd-cron")
_TABLES = (
    "/etc/crontab",
    "/etc/anacrontab",
    "/etc/crontabs/root",
    "/var/spool/cron/crontabs/root",
    "/var/spool/cron/root",
)
_CRON_ROWS = "/etc/cron.d"
"""The folder whose files are tables, too; the others hold scripts."""
_CRON_ROW = re.compile(r"(?:#.*|\w+\s*=.*|@\w+\s+\S.*|-?[\d*][\w*/,~-]*(?:\s+\S+){3,})?")
"""A comment, a variable, a word such as @daily, or numbers (anacron has two of them)."""
_FOLDERS = (
    _CRON_ROWS,
    "/etc/cron.daily",
    "/etc/cron.weekly",
    "/etc/cron.monthly",
    "/etc/periodic/daily",
    "/etc/periodic/weekly",
    "/etc/periodic/monthly",
)


@dataclass(frozen=True)
class ScheduledJob:
    """A job, or why there is none.

    Attributes
    ----------
    runs
        Whether it is carried out; None where that cannot be seen.
    said
        How, why not, or what could not be seen.
    """

    runs: bool | None
    said: str


def init_of(system: System) -> str:
    """Name process 1; empty where that cannot be seen."""
    return system.read("/proc/1/comm") or ""


def best(jobs: Iterator[ScheduledJob]) -> ScheduledJob:
    """Give the job that runs, else one of which that is not seen, else why there is none."""
    found = list(jobs)
    for wanted in (True, None):
        for job in found:
            if job.runs is wanted:
                return job
    return found[0]


def timer(system: System, unit: str) -> ScheduledJob:
    """Look whether systemd starts a timer's service, and when it last did."""
    if is_masked(system, unit):
        return ScheduledJob(False, f"{unit} is masked")
    shown = _shown(system, unit)
    strange = [row for each in (unit, _service(unit)) for row in _strange(system, each)]
    if strange:
        said = f"“{strange[0]}”, which is not understood"
        return ScheduledJob(None, f"of {unit} or its service systemctl says {said}")
    if shown.get("ActiveState") not in ("active", "activating") and not is_enabled(system, unit):
        return ScheduledJob(False, f"{unit} is not enabled")
    init = init_of(system)
    if init and init != "systemd":
        return ScheduledJob(
            False, f"{unit} is enabled, but systemd does not run here (process 1 is {init})"
        )
    if not shown:
        return ScheduledJob(
            None, f"{unit} is enabled; systemctl, which tells whether it runs, did not answer"
        )
    if shown.get("ActiveState") not in ("active", "activating"):
        return ScheduledJob(False, f"{unit} is enabled, but not active")
    service = _service(unit)
    result = _shown(system, service).get("Result", "success")
    if result != "success":
        return ScheduledJob(False, f"the last run of {service} failed ({result})")
    last = shown.get("LastTriggerUSec", "")
    return ScheduledJob(
        True, f"{unit}, which " + (f"ran last on {last}" if _is_time(last) else "is active")
    )


def _is_time(text: str) -> bool:
    return text not in ("", "n/a", "0")


def _shown(system: System, unit: str) -> dict[str, str]:
    """Ask systemd for a unit's state; empty where it does not answer."""
    lines = _answer(system, unit).splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


def _strange(system: System, unit: str) -> list[str]:
    """Give the rows of that answer that are none of what was asked for."""
    rows = _answer(system, unit).splitlines()
    return [row for row in rows if row.partition("=")[0] not in _wanted(unit).split(",")]


def _answer(system: System, unit: str) -> str:
    return system.run("systemctl", "show", unit, f"--property={_wanted(unit)}") or ""


def _wanted(unit: str) -> str:
    return "ActiveState,LastTriggerUSec" if unit.endswith(".timer") else "Result"


def _service(unit: str) -> str:
    return unit.replace(".timer", ".service")


def cron(system: System, program: str) -> ScheduledJob:
    """Look whether a job of cron names a program, and whether a cron runs that would start it."""
    places = [path for path in _cron_files(system) if _names(system.read(path), program)]
    if not places:
        return ScheduledJob(False, f"no job of cron runs {program}")
    running = [system.runs(name) for name in _CRONS]
    if any(running):
        return ScheduledJob(True, f"cron ({places[0]})")
    if all(each is None for each in running):
        return ScheduledJob(None, f"{places[0]} runs {program}; whether a cron runs was not seen")
    return ScheduledJob(False, f"{places[0]} would run {program}, but no cron runs here")


def cron_runs(system: System) -> bool:
    """Whether a cron is seen to run."""
    return any(system.runs(name) for name in _CRONS)


def _cron_files(system: System) -> Iterator[str]:
    yield from _TABLES
    for folder in _FOLDERS:
        yield from (f"{folder}/{name}" for name in system.entries(folder))


def unread_rows(system: System) -> list[Unread]:
    """Give the rows of cron's tables that are no row of any cron; scripts are not looked into."""
    tables = [*_TABLES, *(f"{_CRON_ROWS}/{name}" for name in system.entries(_CRON_ROWS))]
    return [
        Unread(f"{path}, line {number}", row, "a row of cron was expected: times, and a command")
        for path in tables
        for number, row in enumerate((system.read(path) or "").splitlines(), 1)
        if not _CRON_ROW.fullmatch(row.strip())
    ]


def _names(text: str | None, program: str) -> bool:
    lines = (text or "").splitlines()
    wanted = re.compile(rf"(^|[\s/;&|]){re.escape(program)}\b")
    return any(wanted.search(line) and not line.lstrip().startswith("#") for line in lines)
