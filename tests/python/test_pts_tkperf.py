"""TKperf's XML as a result: figures, verdicts, conditions; and files that are broken or hostile."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from ssdlab.bench.report.conditions import drive_rows, part_rows
from ssdlab.bench.report.determination import determination_rows
from ssdlab.bench.report.overlay import overlay
from ssdlab.bench.report.page import build_html
from ssdlab.bench.report.reading import Measured, PartRead
from ssdlab.bench.report.sources import read_results
from ssdlab.ground.errors import SsdlabError
from test_report import Page

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
DRIVE = ("intel-dc-s3500-80gb", "--set", "capacity_bytes=256MB", "--set", "nand.pages_per_block=32")
DEVICE = (
    "\tModel Number:       INTEL SSDSC2BB080G4\n\tSerial Number:      XX1\n"
    "\tFirmware Revision:  D2010355\n"
    "\tdevice size with M = 1000*1000:       80026 MBytes (80 GB)\n\twrite-caching =  1 (on)\n"
)
IOPS = [[[1000 * mix + size for size in range(8)] for mix in range(7, 0, -1)] for _ in range(5)]
LAT = [[[[50.0, 3000.0, 90.5]] * 3 for _ in range(3)] for _ in range(6)]
TP = [[[400_000] * 5, [100_000, 101_000, 99_000, 100_500, 99_500]] for _ in range(5)]
WRITESAT = [[8000 - number for number in range(7)], [[40.0, 9000.0, 4000.0]] * 7]
STEADY = {"stdyrounds": [0, 1, 2, 3, 4], "stdyavg": 1006, "reachstdystate": True, "rndnr": 4}
FUZZED = 300


def document(**tests: dict[str, Any]) -> ElementTree.Element:
    """Return a result with these tests; what is not given is as TKperf has it by default."""
    root = ElementTree.Element("name-of-the-test")
    header = {"testdate": "2014-08-29", "devinfo": DEVICE, "kernel": "3.13.0\n"}
    header |= {"ioperfversion": "2.2", "cmdline": "ssd s3500 /dev/sdb -nj 1 -iod 16"}
    add(root, header)
    for name, given in tests.items():
        load = {"fioversion": "fio-3.1", "numjobs": 1, "iodepth": 16, "runtime": 60}
        judged = {} if name == "writesat" else STEADY
        add(ElementTree.SubElement(root, name), {**load, **judged, **given})
    return root


def add(parent: ElementTree.Element, values: dict[str, Any]) -> None:
    for name, value in values.items():
        ElementTree.SubElement(parent, name).text = json.dumps(value)


def whole() -> ElementTree.Element:
    """Return a result with all four tests."""
    return document(
        iops={"roundmat": IOPS},
        lat={"roundmat": LAT, "iodepth": 1},
        tp={"roundmat": TP},
        writesat={"roundmat": WRITESAT, "rndnr": 6},
    )


def written(root: ElementTree.Element, name: str = "a.xml") -> Path:
    ElementTree.ElementTree(root).write(name)
    return Path(name)


def read(root: ElementTree.Element) -> Measured:
    (found,) = read_results([written(root)])
    return found


def part(measured: Measured, name: str) -> PartRead:
    return next(each for each in measured.parts if each.plan.name == name)


def cell(measured: Measured, part_name: str, name: str) -> dict[str, Any]:
    summary = part(measured, part_name).summary
    assert summary is not None
    return next(dict(each["both"]) for each in summary["cells"] if each["name"] == name)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_figures_have_our_names_and_units() -> None:
    """Rows are mixes, columns sizes; times are µs, rates KiB/s."""
    measured = read(whole())
    assert cell(measured, "iops", "random 100/0 1024 KiB")["iops"] == 7000
    assert cell(measured, "iops", "random 65/35 128 KiB")["iops"] == 5001
    assert cell(measured, "iops", "random 0/100 0.5 KiB")["iops"] == 1007
    pure = cell(measured, "lat", "random 0/100 4 KiB")
    assert (pure["min_ns"], pure["max_ns"], pure["mean_ns"]) == (50_000, 3_000_000, 90_500)
    mixed = cell(measured, "lat", "random 65/35 4 KiB")
    assert (mixed["max_ns"], mixed["mean_ns"]) == (None, 90_500)
    writes = cell(measured, "tp-64k", "sequential 0/100 64 KiB")
    assert writes["mb_per_s"] == pytest.approx(102.4)
    assert cell(measured, "wsat", "random 0/100 4 KiB")["max_ns"] == 9_000_000


def test_figures_are_those_of_the_newest_five_rounds() -> None:
    """Of seven rounds, the window and its averages are of rounds 3 to 7."""
    rounds = [[[number] * 8 for _ in range(7)] for number in (1, 2, 100, 101, 102, 103, 104)]
    measured = read(document(iops={"roundmat": rounds}))
    assert cell(measured, "iops", "random 0/100 4 KiB")["iops"] == 102
    summary = part(measured, "iops").summary
    assert summary is not None and summary["window"] == [3, 4, 5, 6, 7]


@pytest.mark.parametrize(("last", "steady"), [(1000, True), (700, False)])
def test_steadiness_is_judged_anew(last: int, steady: bool) -> None:
    """TKperf's word stands beside our verdict, which follows from the rounds."""
    rounds = [[[value] * 8 for _ in range(7)] for value in (1000, 1000, 1000, 1000, last)]
    found = part(read(document(iops={"roundmat": rounds})), "iops")
    assert found.state == ("steady" if steady else "not steady") + ", purge not checked"
    told = dict(determination_rows(found))
    assert told["steady state"] == ("reached" if steady else "NOT reached")
    assert told["steady state, as TKperf states"] == "reached, in rounds 1, 2, 3, 4, 5"


def test_what_tkperf_does_differently_is_a_deviation() -> None:
    """Each point that holds for this file is told, and none that does not."""
    measured = read(whole())
    told = " ".join(each["clause"] + each["instead"] for each in measured.plan["deviations"])
    for words in ("same random offsets", "write cache", "refill_buffers", "128 KiB", "averages"):
        assert words in told
    assert "several jobs" not in told and "tracks 8 KiB" not in told and "SHORTENED" not in told
    other = read(
        document(iops={"roundmat": IOPS, "numjobs": 2, "runtime": 5, "xargs": ["refill_buffers"]})
    )
    told = " ".join(each["clause"] + each["instead"] for each in other.plan["deviations"])
    assert "several jobs" in told and "SHORTENED: 5 s" in told
    assert "refill_buffers" not in told and "128 KiB" not in told


def test_header_tells_what_the_file_says() -> None:
    """Device, load and program; what is not in the file is not made up."""
    measured = read(whole())
    told = dict(drive_rows(measured))
    assert told["model"] == "INTEL SSDSC2BB080G4" and told["serial number"] == "XX1"
    assert told["capacity"] == "80 GB (80,026,000,000 bytes)"
    assert told["logical block"] == "not reported"
    assert told["measured by"] == "TKperf 2.2" and told["load"].startswith("threads: 1, depth: 16")
    of_part = dict(part_rows(part(measured, "iops")))
    assert of_part["write cache"] == "found on, left so during the test"
    assert of_part["preconditioning"].endswith("the bytes were not recorded")
    assert dict(part_rows(part(measured, "tp-8k")))["preconditioning"] == "none in this test"


def test_drive_without_small_blocks_is_judged_at_4k() -> None:
    """Its matrix has seven columns; the sixth, which TKperf tracks, is 8 KiB."""
    rounds = [[[10, 10, 10, 10, 10, value, 50]] * 7 for value in (10, 20, 30, 40, 50)]
    measured = read(document(iops={"roundmat": rounds}))
    found = part(measured, "iops")
    assert found.plan.tracking.cell == "random 0/100 4 KiB" and "not steady" not in found.state
    assert any("tracks 8 KiB" in each["instead"] for each in measured.plan["deviations"])


def test_page_says_that_the_purge_was_not_checked() -> None:
    """In every picture; nothing is drawn of what TKperf does not record."""
    html = build_html(read_results([written(whole())]))
    rows = Page(html).rows
    assert [
        "check",
        "the figures are computed from the rounds in the file, and judged anew",
    ] in rows
    assert html.count("<svg") == html.count(">PURGE NOT CHECKED<") + html.count(
        ">NOT STEADY, PURGE NOT CHECKED<"
    )
    assert "99.999 %" not in html and "terabytes written" not in html
    assert "ssd s3500 /dev/sdb -nj 1 -iod 16" in html and "Made by ssdlab 2.2" not in html


def test_compared_with_a_folder(command: Command) -> None:
    """The parts that both have stand beside each other, conditions first."""
    words = ("--tests", "wsat", "--cell-seconds", "0.2", "-o", "ours")
    assert command("pts", *DRIVE, *words)[0] == 0
    written(whole())
    code, out, err = command("compare", "ours", "a.xml")
    assert code == 0, err
    assert out.index("measured by") < out.index("wsat, ") < out.index("random 0/100 4 KiB, IOPS")
    # Before the first sample, which is round 31, the window is the newest round.
    assert "7994" in out.partition("random 0/100 4 KiB, IOPS")[2]
    code, out, _ = command("compare", "a.xml", "ours", "--json")
    assert code == 0 and json.loads(out)["labels"][0] == "a.xml"


def spoiled(name: str, tag: str, text: str | None) -> str:
    """Return the document with another text in an element, or without it."""
    root = whole()
    parent = root.find(name) if name else root
    assert parent is not None
    element = parent.find(tag)
    assert element is not None
    if text is None:
        parent.remove(element)
    else:
        element.text = text
    return ElementTree.tostring(root, encoding="unicode")


BOMB = (
    '<!DOCTYPE a [<!ENTITY b "xxxxxxxxxx">'
    + "".join(f'<!ENTITY b{n} "{f"&b{n - 1 if n else str()};" * 10}">' for n in range(12))
    + "]><a><iops>&b11;</iops></a>"
)


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (BOMB, "a document type declaration is refused"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "declaration is refused"),
        ('<!DOCTYPE a [<!ENTITY b SYSTEM "/etc/passwd">]><a>&b;</a>', "declaration is refused"),
        ("<a>" * 50_000, "nested deeper than 3 elements"),
        ("", "cut short, or not XML"),
        ("<a><iops>", "cut short, or not XML"),
        ("{}", "cut short, or not XML"),
        ("<a/>", "no test of TKperf is in it"),
        ("<a><iops/></a>", "iops/roundmat is missing"),
        (spoiled("iops", "roundmat", None), "iops/roundmat is missing"),
        (
            spoiled("iops", "roundmat", json.dumps(IOPS)).replace("iodepth>", "depth>"),
            "iops/depth is no element of TKperf's",
        ),
        (spoiled("iops", "roundmat", "[[["), "iops/roundmat: '[[[' is not JSON"),
        (spoiled("iops", "roundmat", "[" * 100_000), "is not JSON"),
        (spoiled("iops", "roundmat", "7"), "iops/roundmat: '7' is not what TKperf writes there"),
        (spoiled("iops", "roundmat", "[]"), "iops/roundmat: there is no round in it"),
        (spoiled("iops", "roundmat", "[[[1, 2, 3]]]"), "round 1: 3 entries, not 8 or 7"),
        (spoiled("iops", "roundmat", json.dumps([IOPS[0], 7])), "round 2: '7' is not a list"),
        (
            spoiled("iops", "roundmat", json.dumps(IOPS).replace("7000", "NaN", 1)),
            "iops/roundmat, round 1, random 100/0 1024 KiB: 'nan' is not a figure",
        ),
        (
            spoiled("lat", "roundmat", json.dumps(LAT).replace("90.5", '"x"', 1)),
            "lat/roundmat, round 1, random 100/0 8 KiB: 'x' is not a number",
        ),
        (spoiled("tp", "roundmat", "[[[1], [1, 2]]]"), "tp/roundmat: 1 entries, not 5 or 4"),
        (
            spoiled("tp", "roundmat", json.dumps([[[1], [1, 2]]] * 5)),
            "tp/roundmat, tp-1024k: 2 entries, not 1",
        ),
        (
            spoiled("writesat", "roundmat", "[[-1], [[1, 2, 3]]]"),
            "writesat/roundmat, round 1: '-1' is not a figure",
        ),
        (spoiled("iops", "iodepth", "0"), "iops/iodepth: '0' is not a number from 1 on"),
        (spoiled("iops", "runtime", "-1"), "iops/runtime: '-1' is not a number of seconds"),
        (spoiled("iops", "runtime", "1e999"), "iops/runtime: 'inf' is not a number of seconds"),
        (spoiled("", "devinfo", "[]"), "devinfo: '[]' is not what TKperf writes there"),
        (spoiled("lat", "stdyrounds", "[9e99]"), "lat/stdyrounds: '9e+99' is not a figure"),
    ],
)
def test_bad_files(command: Command, content: str, told: str) -> None:
    """File, place and value are named with a remedy; no page is left behind."""
    Path("bad.xml").write_text(content)
    for words in (("report", "bad.xml", "-o", "page.html"), ("compare", "bad.xml")):
        code, _, err = command(*words)
        assert code == 2
        assert "bad.xml: " in err and told in err and "TKperf wrote" in err
        assert "Traceback" not in err
    assert not Path("page.html").exists()


def test_other_files_are_told_apart(command: Command) -> None:
    """A file that is not there, one that is too large, and results of another kind."""
    assert "gone.xml: cannot be read: No such file" in command("report", "gone.xml")[2]
    with Path("large.xml").open("wb") as large:
        large.write(b"<a>")
        large.truncate(17 << 20)
    assert "large.xml: cannot be read" in command("report", "large.xml")[2]
    written(whole())
    Path("b.json").write_text("{}")
    code, _, err = command("compare", "a.xml", "b.json")
    assert code == 2 and "b.json: is neither a folder" in err


def test_broken_at_random() -> None:
    """Whatever is changed in a file, it is read, or refused by name."""
    draw = random.Random(1)
    content = ElementTree.tostring(whole())
    refused = 0
    for _ in range(FUZZED):
        damaged = bytearray(content)
        for _ in range(draw.randint(1, 3)):
            place = draw.randrange(len(damaged))
            if draw.random() < 0.3:
                del damaged[place : place + draw.randint(1, 200)]
            else:
                damaged[place] = draw.choice(b"0123456789.-eE[]{}<>/&\"'nullNaN \xff")
        Path("a.xml").write_bytes(damaged)
        try:
            overlay(read_results([Path("a.xml")]), pictures=False)
        except SsdlabError as error:
            refused += 1
            assert str(error).startswith("a.xml: ")
    assert 0 < refused < FUZZED, "both ends are reached"
