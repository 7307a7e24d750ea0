"""``ssdlab import``: drives, loads and traces from another simulator."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import click

from ssdlab.cli.console import note, print_json
from ssdlab.cli.json_option import JSON_OPTION, check_json_alone
from ssdlab.cli.verb import Verb
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile
from ssdlab.ground.recognise import what_the_file_is

if TYPE_CHECKING:
    from ssdlab.study.mqsim.workload import Scenario

_ADDED_BYTES = 1 << 20
_HOW_LONG = (
    "on a drive of hundreds of GB that takes up to a minute; steady:job, by the job's own writes, "
    "many minutes"
)
Tell = Callable[[str], None]
"""Hears what was not carried over, or is different."""


@click.command(
    "import",
    cls=Verb,
    short_help="Import a drive, a workload or a trace from MQSim.",
    examples=(
        "ssdlab import ssdconfig.xml -o mqsim.toml",
        "ssdlab import workload.xml -o mqsim.fio",
        "ssdlab run mqsim.fio --drive mqsim.toml --state steady --span 75%",
        "ssdlab import tpcc-small.trace -o tpcc.log",
        "ssdlab run --drive micron-7450-pro-960gb --read_iolog=tpcc.log --rw=read",
    ),
)
@click.argument("file", metavar="FILE")
@click.option("-o", "--output", required=True, metavar="FILE", help="Write to this file.")
@JSON_OPTION
def import_(file: str, output: str, as_json: bool) -> int:
    """Import a drive, a workload or a trace from MQSim.

    FILE is its configuration (ssdconfig.xml), which becomes a profile, its workload definition
    (workload.xml), each scenario of which becomes a fio job file, or a trace of five columns, which
    becomes an iolog of fio. What cannot be carried over is named.
    """
    check_json_alone(as_json, output)
    path, notices, written = Path(file), list[str](), [output]

    def tell(notice: str) -> None:
        notices.append(notice)
        note(f"ssdlab: {notice}")

    with PendingFile(output, "-o") as pending:
        kind = what_the_file_is(path)
        if path.suffix.lower() == ".xml" or (kind and kind.name.startswith("MQSim's ")):
            written = _import_document(path, pending, output, tell)
        else:
            _import_trace(path, pending, tell)
            pending.finish()
    if as_json:
        print_json({"written": written, "notices": notices})
    return 0


def _import_document(path: Path, pending: PendingFile, output: str, tell: Tell) -> list[str]:
    """Write what comes of a document; return the files' names."""
    from ssdlab.study.mqsim.elements import CONFIGURATION, not_of_the_form, read_document

    root = read_document(path)
    if strange := not_of_the_form(root):
        tell(f"{path}: not carried over: {', '.join(strange)}")
    if root.tag == CONFIGURATION:
        _import_drive(path, root, pending, tell)
        return [output]
    return _import_workload(path, root, pending, output, tell)


def _import_drive(path: Path, root: ElementTree.Element, pending: PendingFile, tell: Tell) -> None:
    from ssdlab.study.mqsim.profile import profile_of

    profile, left = profile_of(path, root)
    _check_loads(path, profile)
    pending.write(profile)
    if left:
        tell(f"{path}: not carried over: {', '.join(left)}")


def _check_loads(path: Path, profile: str) -> None:
    """Refuse a drive that no verb would load: MQSim may run it, this model cannot."""
    from ssdlab import engine

    with TemporaryDirectory() as folder:
        trial = Path(folder) / "drive.toml"
        PendingFile(trial).write(profile)
        try:
            engine.show(str(trial))
        except SsdlabError as error:
            reason = str(error).replace(str(trial), "the profile made of it")
            raise SsdlabError(
                f"{path}: describes a drive that ssdlab cannot simulate; nothing was written\n"
                f"{reason}"
            ) from None


def _import_workload(
    path: Path, root: ElementTree.Element, pending: PendingFile, output: str, tell: Tell
) -> list[str]:
    """Write the scenarios' job files and the iologs that they replay: all of them, or none."""
    from ssdlab.study.mqsim.workload import not_carried_over, scenarios_of

    scenarios = scenarios_of(path, root, Path(output))
    if strange := not_carried_over(root):
        tell(f"{path}: not carried over: {', '.join(strange)}")
    names = [str(name) for job, each in scenarios for name in (job, *each.traces)]
    if names == [output]:
        pending.write(scenarios[0][1].job)
    elif pending.is_stdout:
        raise SsdlabError(
            f"-o {output}: {len(names)} files come of {path}\nname a file, such as -o load.fio"
        )
    else:
        _write_all(names, [scenario for _, scenario in scenarios], tell)
    for job, scenario in scenarios:
        for line in scenario.left:
            tell(line)
        tell(f"{job}: MQSim fills a part of the drive first: run it with {scenario.state}")
        tell(_HOW_LONG)
    return names


def _write_all(names: list[str], scenarios: list[Scenario], tell: Tell) -> None:
    with ExitStack() as unfinished:
        pending = [unfinished.enter_context(PendingFile(name, "-o")) for name in names]
        files = iter(pending)
        for scenario in scenarios:
            next(files).add(scenario.job.encode())
            for trace, percent in scenario.traces.values():
                _import_trace(trace, next(files), tell, percent)
        for file in pending:
            file.finish()


def _import_trace(path: Path, pending: PendingFile, tell: Tell, percent: int = 100) -> None:
    from ssdlab.study.mqsim.trace import TraceExtent, iolog

    told, lines = TraceExtent(0, set(), 0), bytearray()
    for line in iolog(path, told, percent):
        lines += line.encode()
        if len(lines) >= _ADDED_BYTES:
            pending.add(bytes(lines))
            lines.clear()
    pending.add(bytes(lines))
    tell(
        f"{path}: {text.count(told.requests)} requests; "
        f"they need a drive of {text.size(told.end_bytes)}"
    )
    if len(told.devices) > 1:
        tell(f"{path}: its {len(told.devices)} devices are one drive now, as in MQSim")
