"""MQSim's `workload.xml`: each scenario becomes a fio job file, each of its flows a job.

Flows of a scenario run at the same time, each on its part of the drive: with the same channels,
chips, dies and planes for all (others are refused, since a drive here has one pool of dies), a part
is an equal share of the exported capacity, in the order of the flows. A flow that replays a trace
needs it as an iolog (`trace.py`), and keeps the trace's addresses: left out, and said, is that
MQSim moves them into the flow's part and wraps them around there.

MQSim fills a share of the drive first, and gives its blocks as many valid pages as they have in
steady state under uniform writes, by Van Houdt's formula. That is no part of a job, but an option
of the run (`--state steady`, `--span`), which the file begins with as a comment.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from ssdlab.study.mqsim import flow
from ssdlab.study.mqsim.elements import Elements, inside, refused

Trace = tuple[Path, int]
"""Where it is, and what percentage of its requests is wanted."""

_SCENARIO = "IO_Scenario"
_SYNTHETIC = "IO_Flow_Parameter_Set_Synthetic"
_TRACE = "IO_Flow_Parameter_Set_Trace_Based"
_MOST_SCENARIOS = 99
_MOST_FLOWS = 8
_PLACES = ("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs")
_PRIORITIES = ("URGENT", "HIGH", "MEDIUM", "LOW")
_CACHING = ("WRITE_CACHE", "WRITE_READ_CACHE", "READ_CACHE", "TURNED_OFF")
_MOST_REPLAYS = 10**6


@dataclass
class Scenario:
    """A scenario as a job file.

    Attributes
    ----------
    job
        The file's text.
    span
        The share of the drive that MQSim fills first, in percent.
    traces
        What the job replays: the iolog's name by the trace that it is to be made of.
    left
        A line for each flow that loses something, with the names of the elements.
    """

    job: str = ""
    span: str = ""
    traces: dict[str, Trace] = field(default_factory=dict)
    left: list[str] = field(default_factory=list)

    @property
    def state(self) -> str:
        """The options of a run that bring a drive into the state that MQSim begins with."""
        return f"--state steady --span {self.span}"


def scenarios_of(path: Path, root: ElementTree.Element, jobs: Path) -> list[tuple[Path, Scenario]]:
    """Return each scenario with the name of its job file.

    Parameters
    ----------
    path
        Of the definition.
    root
        What is in it.
    jobs
        What the job file shall be called; of several, each has its number behind that name.

    Raises
    ------
    SsdlabError
        An element is missing, or asks for what is not modelled.
    """
    given = [each for each in root if each.tag == _SCENARIO]
    if not given or len(given) > _MOST_SCENARIOS:
        raise refused(path, f"has {len(given)} <{_SCENARIO}>, not 1 to {_MOST_SCENARIOS}")
    scenarios = []
    for number, each in enumerate(given, 1):
        name = jobs if len(given) == 1 else jobs.with_stem(f"{jobs.stem}-{number}")
        scenarios.append((name, _scenario(path, number, each, name)))
    return scenarios


def not_carried_over(root: ElementTree.Element) -> list[str]:
    """Name what no flow has a part in: elements beside scenarios, and inside of values."""
    scenarios = [each for each in root if each.tag == _SCENARIO]
    values = [value for each in scenarios for of_flow in each for value in of_flow]
    beside = [f"<{each.tag[:40]}> beside the scenarios" for each in root if each not in scenarios]
    return beside + [name for value in values for name in inside(value)]


def _scenario(path: Path, number: int, root: ElementTree.Element, job: Path) -> Scenario:
    place = f"{path}, scenario {number}"
    if not 1 <= len(root) <= _MOST_FLOWS:
        raise refused(place, f"has {len(root)} flows, not 1 to {_MOST_FLOWS}")
    for each in root:
        if each.tag not in (_SYNTHETIC, _TRACE):
            raise refused(place, f"<{each.tag[:40]}> is not a flow that MQSim knows")
    flows = [Elements(f"{place}, flow {at}", list(each)) for at, each in enumerate(root, 1)]
    _check_places(flows)
    scenario, sections = Scenario(), []
    for at, (kind, given) in enumerate(zip((each.tag for each in root), flows, strict=True), 1):
        if kind == _SYNTHETIC:
            lines = list(flow.options(given, at, len(flows)))
        else:
            log = str(job.with_name(f"{job.stem}-flow-{at}.log"))
            lines, scenario.traces[log] = _replay(given, log, path.parent)
        sections.append(f"[flow-{at}]\n" + "".join(f"{key}={value}\n" for key, value in lines))
    scenario.span = _filled(flows)
    scenario.left = _left(flows)
    scenario.left += _said(root, flows)
    scenario.job = _head(number, scenario.state) + "\n".join(sections)
    return scenario


def _head(number: int, state: str) -> str:
    return (
        f"; scenario {number} of a workload of MQSim, which first fills a part of the drive: run it"
        f"\n; with {state}\n[global]\nfilename=/dev/ssd\n\n"
    )


def _check_places(flows: list[Elements]) -> None:
    """Refuse flows with dies of their own."""
    for name in _PLACES:
        first = _numbers(flows[0], name)
        for given in flows[1:]:
            if _numbers(given, name) != first:
                raise given.refused(
                    f"{name}: {given.text(name)[:40]}: differs from flow 1; "
                    "flows share all dies here, so give every flow the same"
                )


def _numbers(given: Elements, name: str) -> set[str]:
    numbers = {each.strip() for each in given.text(name).split(",")}
    if not all(each.isascii() and each.isdigit() for each in numbers):
        raise given.refused(f"{name}: {given.text(name)[:40]!r}: must be numbers such as 0,1,2")
    return numbers


def _filled(flows: list[Elements]) -> str:
    """Return the mean of what is filled of the flows' parts."""
    name = "Initial_Occupancy_Percentage"
    return flow.percent(sum(given.count(name, most=100) for given in flows) / 100 / len(flows))


def _replay(given: Elements, log: str, beside: Path) -> tuple[list[flow.Option], Trace]:
    given.word("Time_Unit", ("NANOSECOND",))
    replays = given.count("Relay_Count", most=_MOST_REPLAYS)
    share = given.count("Percentage_To_Be_Executed", most=100)
    lines: list[flow.Option] = [("read_iolog", log), ("rw", "read"), ("iodepth", flow.OPEN_DEPTH)]
    if replays == 1:
        return lines, (_found(given, beside), share)
    # MQSim replays the whole trace where it replays it more than once.
    return [*lines, ("loops", replays)], (_found(given, beside), 100)


def _found(given: Elements, beside: Path) -> Path:
    """Return where a trace is: as named from here, as MQSim takes it, or beside the definition."""
    name = given.text("File_Path")
    for place in (Path(name), beside / name):
        # Nothing but a file: a definition may come from a stranger.
        if os.path.isfile(place):
            return place
    raise given.refused(f"File_Path: {name[:80]!r}: is no file, here or beside the definition")


def _left(flows: list[Elements]) -> list[str]:
    """Name what is not carried over, a line a flow."""
    priorities = {given.word("Priority_Class", _PRIORITIES) for given in flows}
    lines = []
    for given in flows:
        names = ["Priority_Class"] if len(priorities) > 1 else []
        if given.word("Device_Level_Data_Caching_Mode", _CACHING) != _CACHING[0]:
            names.append("Device_Level_Data_Caching_Mode")
        names += given.unasked()
        if names:
            lines.append(f"{given.place}: not carried over: {', '.join(names)}")
    return lines


def _said(root: ElementTree.Element, flows: list[Elements]) -> list[str]:
    """Say where the addresses are others than MQSim's."""
    lines = []
    for kind, given in zip((each.tag for each in root), flows, strict=True):
        if kind == _TRACE and len(flows) > 1:
            lines.append(f"{given.place}: the trace keeps its addresses, on the whole drive")
        if kind == _SYNTHETIC and flow.streams_apart(given):
            lines.append(f"{given.place}: reads and writes are a stream each, and one in MQSim")
    return lines
