"""TKperf's result file: an XML document of two levels, whose elements hold JSON.

    root ─ testdate, devinfo, kernel, ioperfversion, cmdline
         ─ iops, lat, tp, writesat ─ fioversion, numjobs, iodepth, runtime, xargs, roundmat,
                                     stdyrounds, stdyavg, reachstdystate

Source of the format: TKperf 2.2, github.com/thomas-krenn/TKperf, state of October 2021, the classes
in `src/perfTest`. The file is not trusted: a document type declaration, which alone could define
entities, is refused, and so are files over 16 MiB and elements below the second level.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.recognise import what_the_file_is
from ssdlab.ground.unread import Unread
from ssdlab.ground.xml_input import XmlError, read_xml

TESTS = ("iops", "tp", "lat", "writesat")
MOST_ROUNDS = 24 * 60
"""Write saturation ends after a day of rounds of a minute."""
_ELEMENTS = (
    *("testdate", "devinfo", "kernel", "lsb", "ioperfversion", "cmdline", "featmatrix"),
    "fioversion",
)
_OF_TESTS = (
    *("fioversion", "numjobs", "iodepth", "runtime", "tpramptime", "xargs", "roundmat", "rndnr"),
    *("stdyrounds", "stdyvalues", "stdyavg", "stdyslope", "reachstdystate"),
)
"""All that TKperf 2.2, and the state of its repository after it, write (`src/perfTest`)."""
_VERSIONS = re.compile(r"[12]\.\d+(?:\.\d+)*")
"""That write the same matrices in the same units."""
_DEFAULTS = {"numjobs": "1", "iodepth": "1", "runtime": "60"}
"""What TKperf takes where the command line does not say."""
_MOST_DEPTH = 3
_MOST_WORKERS = 100_000
_MOST_SECONDS = 24 * 3600
_REMEDY = "name the XML file that TKperf wrote for an SSD or a RAID (modes ssd and raid)"


@dataclass(frozen=True)
class SteadyVerdict:
    """What TKperf itself says of steady state.

    Attributes
    ----------
    steady
        None where it did not get so far.
    rounds
        Numbers of the rounds in its window, from 1.
    average
        Of its tracking variable.
    """

    steady: bool | None
    rounds: tuple[int, ...]
    average: float


@dataclass(frozen=True)
class TestRead:
    """A test of the file.

    Attributes
    ----------
    name
        One of `TESTS`.
    fio, jobs, depth, runtime_s, options
        The version of fio, and how it was called.
    ramp_s
        How long throughput writes before a cell is measured; 0 before TKperf had it.
    matrix
        Its figures; lists of lists, whose shape is not yet checked.
    verdict
        None where TKperf has none (write saturation).
    """

    name: str
    fio: str
    jobs: int
    depth: int
    runtime_s: float
    options: tuple[str, ...]
    ramp_s: float
    matrix: Any
    verdict: SteadyVerdict | None


@dataclass(frozen=True)
class TkperfDocument:
    """A file: what was measured and how, and its tests in the order of `TESTS`."""

    path: Path
    date: str
    device: str
    kernel: str
    version: str
    command: str
    tests: tuple[TestRead, ...]

    @property
    def unread(self) -> tuple[Unread, ...]:
        """What is not understood in it: a version whose form is not known."""
        if _VERSIONS.fullmatch(self.version):
            return ()
        why = (
            "matrices and units are known of TKperf 1 and 2: figures are read as theirs"
            if self.version
            else "no version of TKperf stands in the file: figures are read as those of TKperf 2"
        )
        return (Unread(f"{self.path}: ioperfversion", self.version, why),)


def read_document(path: Path) -> TkperfDocument:
    """Read a file.

    Raises
    ------
    SsdlabError
        It cannot be read, or is no result of TKperf on an SSD.
    """
    root = _root(path)
    if any(element.tag in TESTS for element in root):
        _check_elements(path, root)
    found = [(name, root.find(name)) for name in TESTS]
    tests = [_test(path, name, element) for name, element in found if element is not None]
    if not tests:
        raise refused(path, f"no test of TKperf is in it (iops, tp, lat or writesat){_what(path)}")

    def text(tag: str) -> str:
        return str(_json(path, root, tag, str, default=""))

    return TkperfDocument(
        path,
        text("testdate"),
        text("devinfo"),
        text("kernel").strip(),
        text("ioperfversion"),
        text("cmdline"),
        tuple(tests),
    )


def refused(path: Path, what: str) -> SsdlabError:
    """Return an error that says what is wrong in a file."""
    return SsdlabError(f"{path}: {what}\n{_REMEDY}")


def _check_elements(path: Path, root: ElementTree.Element) -> None:
    """Refuse elements that TKperf does not write: what they say would be left out silently."""
    for element in root:
        known = _OF_TESTS if element.tag in TESTS else ()
        _check_element(path, root, element, (*_ELEMENTS, *TESTS))
        for each in element:
            _check_element(path, element, each, known)
            for below in each:
                _check_element(path, each, below, ())


def _check_element(
    path: Path, parent: ElementTree.Element, element: ElementTree.Element, known: Sequence[str]
) -> None:
    where = element.tag[:40] if parent.tag not in TESTS else f"{parent.tag}/{element.tag[:40]}"
    if element.tag not in known:
        raise refused(path, f"{where} is no element of TKperf's")
    if len(parent.findall(element.tag)) > 1:
        raise refused(path, f"{where} is there twice")
    words = [each for each in (element.tail, parent.text if len(parent) else "") if each]
    words += [f"{name}={value}" for name, value in (*parent.items(), *element.items())]
    if strange := " ".join(words).strip():
        raise refused(path, f"{where}: beside it stands {shortened(strange)}")


def _what(path: Path) -> str:
    """Say what else the file is, where that is known."""
    kind = what_the_file_is(path)
    is_other = kind is not None and kind.name != "TKperf's result"
    return f"; {kind.told(str(path))}" if kind is not None and is_other else ""


def _root(path: Path) -> ElementTree.Element:
    try:
        return read_xml(path, _MOST_DEPTH)
    except XmlError as error:
        raise refused(path, f"{error}{_what(path)}") from None


def _test(path: Path, name: str, element: ElementTree.Element) -> TestRead:
    def value(tag: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        return _json(path, element, tag, kind, default)

    matrix = value("roundmat", list)
    return TestRead(
        name=name,
        fio=value("fioversion", str, ""),
        jobs=_whole(path, f"{name}/numjobs", value("numjobs", int)),
        depth=_whole(path, f"{name}/iodepth", value("iodepth", int)),
        runtime_s=_within(path, f"{name}/runtime", value("runtime", (int, float))),
        options=tuple(str(each) for each in value("xargs", list, [])),
        ramp_s=figure(path, f"{name}/tpramptime", value("tpramptime", (int, float), 0)),
        matrix=matrix,
        verdict=None if name == "writesat" else _verdict(path, name, value),
    )


def _verdict(path: Path, name: str, value: Callable[..., Any]) -> SteadyVerdict:
    steady = value("reachstdystate", (bool, type(None)))
    numbers = listed(path, f"{name}/stdyrounds", value("stdyrounds", list), most=MOST_ROUNDS)
    rounds = [int(figure(path, f"{name}/stdyrounds", each)) + 1 for each in numbers]
    average = figure(path, f"{name}/stdyavg", value("stdyavg", (int, float)))
    return SteadyVerdict(steady, tuple(rounds), average)


def _json(
    path: Path,
    parent: ElementTree.Element,
    tag: str,
    kind: type | tuple[type, ...],
    default: Any = None,
) -> Any:
    """Return an element's JSON, of the kind that TKperf writes; the default where it is absent."""
    element = parent.find(tag)
    where = tag if parent.tag not in TESTS else f"{parent.tag}/{tag}"
    if element is None and default is not None:
        return default
    if element is None:
        raise refused(path, f"{where} is missing{_added(tag)}")
    text = element.text or ""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        raise refused(path, f"{where}: {shortened(text)} is not JSON") from None
    if not isinstance(value, kind):
        raise refused(path, f"{where}: {shortened(text)} is not what TKperf writes there")
    return value


def _added(tag: str) -> str:
    """Say how an older file, or one that was cut by hand, is made whole."""
    if tag == "roundmat":
        return ""
    default = f", TKperf's default being {_DEFAULTS[tag]}" if tag in _DEFAULTS else ""
    return f"; if you know what it was, add <{tag}>…</{tag}> to the test{default}"


def shortened(value: object) -> str:
    """Quote the beginning of a value."""
    words = " ".join(str(value).split())
    return repr(words if len(words) <= 40 else f"{words[:40]}…")


def listed(
    path: Path, where: str, value: object, counts: Sequence[int] = (), most: int = 0
) -> list[Any]:
    """Return a list of one of some lengths, or of 1 to `most` entries where none is given."""
    if not isinstance(value, list):
        raise refused(path, f"{where}: {shortened(value)} is not a list")
    if len(value) not in (counts or range(most + 1)):
        wanted = " or ".join(map(str, counts)) if counts else f"at most {most}"
        raise refused(path, f"{where}: {len(value)} entries, not {wanted}")
    return value


def figure(path: Path, where: str, value: object) -> float:
    """Return a figure: finite, and not negative."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise refused(path, f"{where}: {shortened(value)} is not a number")
    if not 0 <= value <= 1e15 or not math.isfinite(value):
        raise refused(path, f"{where}: {shortened(value)} is not a figure")
    return float(value)


def _whole(path: Path, where: str, value: int) -> int:
    if isinstance(value, bool) or not 1 <= value <= _MOST_WORKERS:
        raise refused(path, f"{where}: {shortened(value)} is not a number from 1 on")
    return value


def _within(path: Path, where: str, value: float) -> float:
    if isinstance(value, bool) or not 0 < value <= _MOST_SECONDS:
        raise refused(path, f"{where}: {shortened(value)} is not a number of seconds")
    return float(value)
