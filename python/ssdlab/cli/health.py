"""``ssdlab health``: the life of real drives, as each vendor means it."""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from ssdlab.cli.console import is_terminal, note, print_json, print_list, print_table, print_text
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.plug_in import FORMAT_OPTION, TERM, PlugIn, failure
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit
from ssdlab.ground.output import PendingFile, check_writable
from ssdlab.ground.recognise import what_the_file_is
from ssdlab.machine.health import monitoring
from ssdlab.machine.health.baseline import read_baseline, write_baseline
from ssdlab.machine.health.examination import Examination, date_of, examine, gone, unanswered
from ssdlab.machine.health.finding import HealthFinding, HealthLimits, HealthSeverity
from ssdlab.machine.health.history import Reading, read_history, vanished, write_history
from ssdlab.machine.verdict import Verdict
from ssdlab.real.smart import live
from ssdlab.real.smart.life import life_of
from ssdlab.real.smart.meanings import Family, read_overrides
from ssdlab.real.smart.reading import read_file
from ssdlab.real.smart.report import DriveReport, address_of

_LONGEST_FILE = 16 << 20
_WIDE = 110
"""From so many columns of a terminal on the model has a column of its own."""
EXIT_CODES = {
    HealthSeverity.OK: Exit.DONE,
    HealthSeverity.WARNING: Exit.ATTENTION,
    HealthSeverity.CRITICAL: Exit.FINDING,
    HealthSeverity.UNKNOWN: Exit.NOT_JUDGED,
}


@dataclass(frozen=True)
class _Asked:
    """A drive that was asked, or a file that was read, and the answer."""

    device: str
    kind: str
    answer: DriveReport | SsdlabError
    file: str = ""

    @property
    def address(self) -> str:
        """Where the drive is, as its report says or as it was asked for."""
        if isinstance(self.answer, DriveReport):
            return self.answer.address
        return address_of(self.device, self.kind)

    @property
    def is_known(self) -> bool:
        """Whether it told who it is."""
        return isinstance(self.answer, DriveReport) and self.answer.tells_health


@click.command(
    cls=PlugIn,
    short_help="Read the wear of real drives, as each vendor defines it.",
    terms=(
        (
            "DEVICE",
            "such as /dev/sda, or a folder of `ssdlab serve`; without one, every drive that "
            "smartctl finds",
        ),
        ("exit 0", "OK: all that was looked at looks right"),
        ("1, 3", "WARNING, CRITICAL"),
        ("4", "UNKNOWN: not judged: no drive, no answer, something that is not understood"),
        ("2", "wrong input"),
        TERM,
    ),
    examples=(
        "ssdlab health",
        "ssdlab health /dev/sda -d megaraid,6",
        "smartctl -j -x /dev/nvme0 > n.json; ssdlab health --from n.json",
        "ssdlab health --history /var/lib/ssdlab/health.jsonl --format nagios",
    ),
)
@click.argument("devices", nargs=-1, metavar="[DEVICE]…")
@click.option(
    "--from",
    "files",
    multiple=True,
    metavar="FILE",
    help="Read what smartctl or nvme smart-log printed, JSON or text; - is stdin.",
)
@click.option("-d", "kind", metavar="TYPE", help="Pass -d to smartctl, such as megaraid,6.")
@click.option("--meanings", metavar="FILE", help="Read more drive families from this file (TOML).")
@click.option(
    "--history", metavar="FILE", help="Keep readings in this file; they give the wear-out date."
)
@click.option(
    "--baseline", metavar="FILE", help="Read known error counts; alarm only if they grow."
)
@click.option("--acknowledge", is_flag=True, help="Write today's error counts to the baseline.")
@FORMAT_OPTION
@JSON_OPTION
@click.option("--output", "-o", metavar="FILE", help="Write to FILE atomically.")
@click.option(
    "--smartctl",
    default="smartctl",
    show_default=True,
    metavar="PROGRAM",
    help="Use this program as smartctl.",
)
def health(
    devices: tuple[str, ...],
    files: tuple[str, ...],
    kind: str | None,
    meanings: str | None,
    history: str | None,
    baseline: str | None,
    acknowledge: bool,
    form: str,
    as_json: bool,
    output: str | None,
    smartctl: str,
) -> int:
    """Read the health of real drives: what looks right or wrong, and what was not looked at."""
    form = "json" if as_json else form
    _refuse_what_does_not_fit(devices, kind, baseline, acknowledge, form, output)
    if history:
        check_writable(history, "--history")
    if baseline and acknowledge:
        check_writable(baseline, "--baseline")
    overrides = read_overrides(meanings) if meanings else ()
    known = read_baseline(baseline) if baseline else {}
    try:
        asked = [*_from_files(files), *_from_drives(devices, kind, smartctl, bool(files))]
    except live.NoDrive as error:
        return _without_a_drive(error, form, output)
    examined = _examine(asked, overrides, known, history, named=bool(devices and not files))
    if acknowledge and baseline is not None:
        counts = write_baseline(baseline, known, examined)
        note(f"{counts} counts are acknowledged in {baseline}")
    _show(examined, form, output)
    state = monitoring.overall(examined)
    return int(state) if form == "nagios" else int(EXIT_CODES[state])


def _refuse_what_does_not_fit(
    devices: tuple[str, ...],
    kind: str | None,
    baseline: str | None,
    acknowledge: bool,
    form: str,
    output: str | None,
) -> None:
    """Refuse options that do not go together before a drive is asked."""
    if acknowledge and baseline is None:
        raise SsdlabError("--acknowledge needs --baseline FILE, where the counts are kept")
    if kind and not devices:
        raise SsdlabError("-d needs a DEVICE: ssdlab health /dev/sda -d megaraid,6")
    if output is not None and form == "table":
        raise SsdlabError("--output needs --format json, nagios or prometheus")


def _without_a_drive(error: live.NoDrive, form: str, output: str | None) -> int:
    """Say that there is no drive to ask: in JSON whole, else as a message."""
    if form == "nagios":
        print_text(failure(error))
        return int(HealthSeverity.UNKNOWN)
    if form == "json":
        _show([unanswered("this machine", "", str(error))], form, output)
    note(f"ssdlab: {error}")
    return int(Exit.NOT_JUDGED)


def _from_files(files: Sequence[str]) -> list[_Asked]:
    return [_Asked(name, "", read_file(_bytes(name), name), name) for name in dict.fromkeys(files)]


def _bytes(name: str) -> bytes:
    try:
        with Path("/dev/stdin" if name == "-" else name).open("rb") as file:
            content = file.read(_LONGEST_FILE + 1)
    except OSError as error:
        raise SsdlabError(f"--from {name}: {error.strerror}") from None
    if len(content) > _LONGEST_FILE:
        raise SsdlabError(
            f"--from {name}: more than {_LONGEST_FILE >> 20} MiB; not one drive's report"
        )
    return content


def _from_drives(
    devices: Sequence[str], kind: str | None, smartctl: str, have_files: bool
) -> list[_Asked]:
    if not devices and have_files:
        return []
    words = [[device, *(["-d", kind] if kind else [])] for device in dict.fromkeys(devices)]
    return [_ask(each, smartctl) for each in words or live.scan(smartctl)]


def _ask(words: Sequence[str], smartctl: str) -> _Asked:
    """Ask a drive; that it does not answer is a finding, not the end."""
    device, kind = words[0], live.kind_of(words)
    try:
        if not Path(device).exists():
            raise SsdlabError("there is no such device\nlsblk lists the devices")
        if Path(device).is_dir():
            return _Asked(device, kind, _simulated(device))
        if Path(device).is_file():
            raise SsdlabError(f"it is a file, no device\n{_of_a_file(device)}")
        return _Asked(device, kind, live.ask(words, smartctl))
    except SsdlabError as error:
        return _Asked(device, kind, error)


def _of_a_file(name: str) -> str:
    """Say what a file is that was named as a device, and what takes it."""
    known = what_the_file_is(name)
    return known.told(name) if known else f"read a report with: ssdlab health --from {name}"


def _simulated(folder: str) -> DriveReport:
    """Read the report of a drive that `ssdlab serve` has in a folder."""
    from ssdlab.cli.served_note import shown_now, smart_document

    document = smart_document(folder, shown_now(folder))
    return read_file(json.dumps(document).encode(), folder)


def _examine(
    asked: Sequence[_Asked],
    overrides: Sequence[Family],
    known: dict[str, dict[str, int]],
    history: str | None,
    *,
    named: bool,
) -> list[Examination]:
    earlier = read_history(history) if history else []
    now, by_slot = time.time(), any(" -d " in each.address for each in asked)
    examined, readings = [], []
    for each in asked:
        if isinstance(each.answer, SsdlabError):
            examined.append(unanswered(each.device, each.kind, str(each.answer)))
            continue
        report, own = each.answer, list[Reading]()
        if each.is_known:
            readings.append(Reading.of(report, life_of(report, overrides), now))
            own = [one for one in (*earlier, readings[-1]) if one.drive == report.identity]
        examined.append(
            examine(
                report,
                overrides=overrides,
                acknowledged=known.get(report.identity, {}),
                history=own,
                file=each.file,
                by_slot=by_slot,
            )
        )
    if history:
        write_history(history, [*earlier, *readings])
        silent = [each.address for each in asked if not each.is_known]
        only = [each.address for each in asked] if named else []
        present = [reading.drive for reading in readings]
        examined += map(gone, vanished(earlier, present, silent, only))
    return examined


def _show(examined: Sequence[Examination], form: str, output: str | None) -> None:
    writers: dict[str, Callable[[], str]] = {
        "nagios": lambda: monitoring.nagios(examined, HealthLimits()),
        "prometheus": lambda: monitoring.prometheus(examined),
        "json": lambda: _json(examined),
    }
    if output is not None:
        with PendingFile(output) as pending:
            pending.write(writers[form]().rstrip("\n") + "\n")
    elif form == "json":
        print_json([each.to_dict() for each in examined])
    elif form == "table":
        _print_table(examined)
    else:
        print_text(writers[form]())


def _json(examined: Sequence[Examination]) -> str:
    return json.dumps([each.to_dict() for each in examined], indent=2, ensure_ascii=False)


def _print_table(examined: Sequence[Examination]) -> None:
    headings = ("drive", "model", "state", "life used", "spare", "written", "WA", "worn out")
    rows = [_row(each) for each in examined]
    is_narrow = is_terminal(sys.stdout) and shutil.get_terminal_size((80, 24)).columns < _WIDE
    if is_narrow:
        # The model stands above the findings: a column of its own would be a few letters wide.
        narrow = [(drive, *others) for drive, _, *others in rows]
        print_table((headings[0], *headings[2:]), narrow, right=(2, 3, 4, 5), fold=0)
    else:
        print_table(headings, rows, right=(3, 4, 5, 6), fold=1)
    for each, row in zip(examined, rows, strict=True):
        read = f" ({each.report.form})" if each.report and each.report.form else ""
        model = f": {row[1]}" if is_narrow and row[1] != text.NOTHING else ""
        print_list(f"{each.drive}{model}{read}", _said(each.findings))
    print_text("\n" + monitoring.summary_of(examined))


def _said(findings: Sequence[HealthFinding]) -> list[str]:
    """Say what looks wrong and what was not looked at one by one, what looks right in one."""
    said = [_one(finding) for finding in findings if finding.verdict != Verdict.RIGHT]
    right = [finding.sentence for finding in findings if finding.verdict == Verdict.RIGHT]
    return [*said, f"{Verdict.RIGHT}: {'; '.join(right)}"] if right else said


def _one(finding: HealthFinding) -> str:
    verdict = f"{finding.verdict}, " if finding.looked_at else ""
    return (
        f"{verdict}{finding.severity}: {finding.sentence}" if finding.severity else finding.sentence
    )


def _row(each: Examination) -> tuple[str, ...]:
    life = each.life
    model = (each.report.model if each.report else "") or text.NOTHING
    if life is None:
        return (each.drive, model, each.state, *(text.NOTHING,) * 5)
    used, spare = life.used_percent, life.spare_percent
    written, amplification = life.host_written_bytes, life.write_amplification
    unknown = text.NOTHING if each.report and each.report.rotates else "unknown"
    return (
        each.drive,
        model,
        each.state,
        text.percent(used.number / 100, 0) if used else unknown,
        text.percent(spare.number / 100, 0) if spare else text.NOTHING,
        text.size(written.number) if written else text.NOTHING,
        text.ratio(amplification.number) if amplification else text.NOTHING,
        _worn_out(each),
    )


def _worn_out(each: Examination) -> str:
    end = each.wear_out
    if end is None:
        return text.NOTHING
    latest = date_of(end.latest_s) or "never"
    return f"{date_of(end.time_s)} ({date_of(end.earliest_s)} to {latest})"
