"""The report of a PTS result: its pages, their figures and warnings, in a browser and on paper."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import browser
import ssdlab.cli
from ssdlab.bench.report import write_pts_report
from ssdlab.bench.report.commands import commands
from ssdlab.bench.report.conditions import drive_rows
from ssdlab.bench.report.determination import determination_rows
from ssdlab.bench.report.overlay import overlay
from ssdlab.bench.report.page import build_html
from ssdlab.bench.report.reading import Measured
from ssdlab.bench.report.sources import read_results
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.report import printing
from test_report import Page

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
Say = Callable[[dict[str, Any]], str]
DRIVE = ("intel-dc-s3500-80gb", "--set", "capacity_bytes=256MB", "--set", "nand.pages_per_block=32")
PARTS = ("iops", "tp-1024k", "tp-128k", "lat", "wsat", "hir")
PRINTS = browser.found() is not None and shutil.which("pdftotext") is not None


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All tests on a tiny drive, with cells of a tenth of a second."""
    folder = tmp_path_factory.mktemp("pts") / "out"
    words = ("--tests", "iops,tp,lat,wsat,hir", "--cell-seconds", "0.1", "-o", str(folder))
    assert ssdlab.cli.main(["pts", *DRIVE, *words]) == 0
    return folder


@pytest.fixture(scope="module")
def html(measured: Path) -> str:
    """Return its page."""
    return html_of(measured)


@pytest.fixture
def copied(measured: Path, tmp_path: Path) -> Path:
    """Return a copy, which a test may change."""
    return Path(shutil.copytree(measured, tmp_path / "copied"))


def read(folder: Path) -> Measured:
    (found,) = read_results([folder])
    return found


def html_of(*folders: Path) -> str:
    return build_html(read_results(folders))


def drawings(html: str, part: str) -> list[str]:
    """Return the pictures of a part."""
    title = rf"<h2>[^<]*\({part}\).*?</section>"
    found = re.search(title, html, re.DOTALL)
    assert found is not None, f"{part} has no page"
    return re.findall(r"<svg.*?</svg>", found[0], re.DOTALL)


def titles(html: str, part: str) -> set[str]:
    """Return what the pictures of a part tell where one points at them."""
    return set(re.findall(r"<title>([^<]*)</title>", " ".join(drawings(html, part))))


def change(path: Path, alter: Callable[[dict[str, Any]], None]) -> None:
    data = json.loads(path.read_text())
    alter(data)
    path.write_text(json.dumps(data))


def without_firmware(data: dict[str, Any]) -> None:
    del data["target"]["firmware"]


def unpurge(folder: Path, part: str) -> None:
    change(
        folder / part / "beginning.json", lambda data: data["purge"].__setitem__("proved", False)
    )


def leave_only(folder: Path, *parts: str) -> None:
    """Take away the other parts, as if the run had not come so far."""
    for part in set(PARTS) - set(parts):
        shutil.rmtree(folder / part)
    (folder / "result.json").unlink()


def test_the_page_begins_with_the_result(measured: Path, html: str) -> None:
    """Whether each part is steady, and its average, stand before conditions and deviations."""
    page = Page(html)
    _title, _drive, *sections = page.headings
    assert sections[:3] == ["Result", "Target and conditions", "Deviations from the standard"]
    headings, *rows = page.rows[: 1 + len(PARTS)]
    assert headings[:3] == ["part", "state", "average"]
    assert [row[:2] for row in rows] == [
        [part.plan.name, part.state] for part in read(measured).parts
    ]
    assert [row[0] for row in rows] == list(PARTS)


def test_each_test_has_its_pages(html: str) -> None:
    """Header, pictures and tables of every part, in one page that loads nothing."""
    page = Page(html)
    assert all(reference.startswith("#") for reference in page.references)
    assert len(page.ids) == len(set(page.ids))
    assert html.count("<script>") == html.count("<script") == 1, "a script of its own, none loaded"
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert re.search(r"#0a0[bc]\d\d", html) is None, "colours follow the theme"
    assert ">0<" in html and "0 ns<" not in html, "zero on an axis of times has no unit"
    # Convergence, window, amplification, by size, bars; TP has reads and writes; LAT has three
    # times; WSAT and HIR have rates, from zero and by decades, and times, over time and over bytes.
    counts = {part: len(drawings(html, part)) for part in PARTS}
    assert counts["iops"] == 5 and counts["tp-128k"] == 5
    assert counts["lat"] == 3 + 2 + 6
    assert counts["hir"] == 6 + 2 + 1
    for what in ("capacity", "firmware", "serial number", "data pattern", "purge, check"):
        assert [row for row in page.rows if row[0] == what], f"{what} is missing"


def test_figures_are_those_of_the_result(measured: Path, html: str) -> None:
    """Table, determination, preconditioning and log say what result.json says."""
    result = json.loads((measured / "result.json").read_text())
    iops = result["tests"][0]["parts"][0]
    page = Page(html)
    row = next(row for row in page.rows if row[0] == "4 KiB" and len(row) == 8)
    cells = {cell["name"]: cell["both"]["iops"] for cell in iops["cells"]}
    assert row[1] == text.count(round(cells["random 0/100 4 KiB"]))
    written = f"{iops['conditioning']['written_bytes']:,} bytes were written"
    told = next(row[1] for row in page.rows if row[0] == "preconditioning")
    assert told.count(written.partition(" ")[0]) == 2, "by the record, and by the drive's log"
    share = iops["judged"]["data_range"] / iops["judged"]["average"]
    assert any(f"({share:.2%}".replace("%", " %") in cell for row in page.rows for cell in row)
    assert [
        "check",
        "result.json agrees with the figures, which were computed anew from the rounds",
    ] in page.rows


def test_line_is_that_of_the_window(measured: Path) -> None:
    """The line's values at the window's rounds have the slope and the mean of its values."""
    part = next(part for part in read(measured).parts if part.plan.name == "hir")
    assert part.summary is not None
    judged = part.summary["judged"]
    line = dict(determination_rows(part))["least-squares line"]
    match = re.fullmatch(r"y = (\S+) · R ([+-]) ?(\S+)", line)
    assert match is not None
    slope, at_zero = float(match[1]), float(match[2] + match[3])
    values = [slope * number + at_zero for number in judged["rounds"]]
    assert sum(values) / 5 == pytest.approx(judged["average"], rel=1e-4)
    assert abs(values[-1] - values[0]) == pytest.approx(judged["excursion"], rel=1e-3)


def test_not_steady_stands_in_every_picture(copied: Path) -> None:
    """So does "not purged"; what is steady and purged says neither."""
    leave_only(copied, "lat", "tp-128k", "tp-1024k")
    for name in ("round-0003.json", "round-0004.json", "round-0005.json"):
        for place in (copied / "lat").glob(name):
            place.unlink()
    unpurge(copied, "tp-128k")
    html = html_of(copied)
    for part, said in (("lat", "NOT STEADY, UNFINISHED"), ("tp-128k", "NOT PURGED")):
        found = drawings(html, part)
        assert len(found) > 3
        for drawing in found:
            texts = " ".join(re.findall(r"<text[^>]*>([^<]*)</text>", drawing))
            assert said in texts, f"a picture of {part} does not say {said}"
            assert said in drawing[: drawing.index(">")], "nor to those who do not see it"
    assert not any("NOT " in drawing for drawing in drawings(html, "tp-1024k"))


def test_unfinished_run(copied: Path) -> None:
    """Parts without a round are listed; figures follow from the rounds that are there."""
    leave_only(copied, "tp-128k", "iops")
    for place in (copied / "iops").glob("round-*"):
        place.unlink()
    rows = Page(html_of(copied)).rows
    assert ["wsat", "not begun"] in [row[:2] for row in rows]
    assert ["iops", "no round yet"] in [row[:2] for row in rows]
    assert any("the run has not ended" in cell for row in rows for cell in row)


def test_report_reads_only(copied: Path) -> None:
    """Nothing in the folder appears or changes."""
    leave_only(copied, "tp-128k")
    before = {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}
    folders = {path for path in copied.rglob("*") if path.is_dir()}
    html_of(copied)
    assert before == {path: path.read_bytes() for path in copied.rglob("*") if path.is_file()}
    assert folders == {path for path in copied.rglob("*") if path.is_dir()}


def test_changed_result_is_told(copied: Path) -> None:
    """A result.json that says something else than the rounds is not believed."""

    def flatter(data: dict[str, Any]) -> None:
        data["tests"][0]["parts"][0]["judged"]["average"] *= 2

    change(copied / "result.json", flatter)
    assert read(copied).agrees is False
    assert "RESULT.JSON DIFFERS" in dict(drive_rows(read(copied)))["check"]


@pytest.mark.parametrize(
    ("spoil", "told"),
    [
        (lambda folder: (folder / "plan.json").write_text("{"), "plan.json: cannot be read"),
        (lambda folder: (folder / "plan.json").write_text("[]"), "is not a file of `ssdlab pts`"),
        (lambda folder: (folder / "plan.json").write_text("{}"), "plan.json: an entry is missing"),
        (lambda folder: (folder / "plan.json").unlink(), "there is no plan.json"),
        (lambda folder: (folder / "lat/round-0002.json").write_text('{"cells": 7}'), "lat: an "),
        (lambda folder: change(folder / "plan.json", without_firmware), "copied: an entry is"),
        (lambda folder: (folder / "runs.json").write_text('{"runs": 7}'), "runs.json: an entry"),
    ],
)
def test_damaged_folder(
    command: Command, copied: Path, spoil: Callable[[Path], object], told: str
) -> None:
    """What is wrong is named with its file, and no page is left behind."""
    spoil(copied)
    code, _, err = command("report", str(copied), "-o", "page.html")
    assert code == 2
    assert told in err and "ssdlab pts TARGET -o DIR" in err and "Traceback" not in err
    assert not Path("page.html").exists()


def test_files_and_folders_do_not_mix(command: Command, measured: Path) -> None:
    """A file among folders is named."""
    Path("a.json").write_text("{}")
    code, _, err = command("report", str(measured), "a.json")
    assert code == 2
    assert "a.json: is neither a folder of `ssdlab pts` nor an XML file of TKperf" in err


def test_commands_make_the_same_plan(measured: Path, command: Command) -> None:
    """The command for the same again is taken, and asks for the same."""
    found = read(measured)
    (_, again), (_, real) = commands(found)
    assert "--destroy /dev/DEVICE" in real and "--set" not in real
    words = again.split()
    code, out, _ = command(*words[1:], "--dry-run")
    assert code == 0 and "SHORTENED: 0.1 s" in out
    assert words[2] == DRIVE[0] and "capacity_bytes=256MB" in words


def test_several_are_compared(measured: Path, copied: Path, command: Command) -> None:
    """What differs in the conditions comes first; ratios are those of the figures."""
    change(copied / "plan.json", lambda data: data["target"].__setitem__("firmware", "other <b>"))
    unpurge(copied, "tp-128k")
    found = overlay(read_results([measured, copied]), pictures=False)
    differing = {row[0]: row[1:] for row in found.differing}
    assert differing["firmware"][1] == "other <b>"
    assert differing["tp-128k: state"] == ("steady", "steady, not purged")
    assert set(differing) == {"firmware", "tp-128k: state", "tp-128k: purge, check"}
    assert all(row[3] == "1.00" for each in found.comparisons for row in each.rows)
    other = Path(shutil.copytree(copied, copied.with_name("other")))
    for folder in (copied, other):
        leave_only(folder, "tp-128k")
    html = html_of(copied, other)
    page = Page(html)
    assert len(page.ids) == len(set(page.ids))
    assert html.index("What differs in the conditions") < html.index("<svg")
    assert "<h1>Performance test: Intel SSD DC S3500 80 GB</h1>" in html
    assert "tp-128k, NOT PURGED (at least one)" in [row[0] for row in page.rows]
    code, out, _ = command("compare", str(measured), str(copied))
    assert code == 0 and out.startswith("What differs in the conditions\n")
    assert out.index("firmware") < out.index("sequential 0/100 128 KiB, MB/s")


def test_a_changed_round_is_not_judged(
    measured: Path, copied: Path, command: Command, tmp_path: Path
) -> None:
    """A figure a thousand times as large in one round: the folder is named, the exit code is 4."""

    def thousandfold(data: dict[str, Any]) -> None:
        data["cells"][0]["both"]["mb_per_s"] *= 1000

    change(copied / "tp-128k" / "round-0001.json", thousandfold)
    code, out, _ = command("compare", str(measured), str(copied))
    assert code == 4 and "not judged:" in out and "copied/result.json" in "".join(out.split())
    _, out, _ = command("compare", str(measured), str(copied), "--json")
    assert [each["quoted"] for each in json.loads(out)["unread"]] == ["result.json"]
    code, _, err = command("report", str(copied), "-o", "page.html")
    assert code == 4 and "not judged" in err and (tmp_path / "page.html").exists()


def test_pdf_needs_a_browser(
    measured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without one the remedy is named, and nothing is written."""
    monkeypatch.setattr("shutil.which", lambda _name: None)

    def without_script(*_: object, interactive: bool) -> str:
        assert not interactive
        return "<p>page</p>"

    monkeypatch.setattr("ssdlab.bench.report.page.build_html", without_script)
    with pytest.raises(SsdlabError, match="apt install chromium"):
        write_pts_report([measured], tmp_path / "report.pdf")
    assert list(tmp_path.iterdir()) == []


def test_pointing_tells_the_figures_of_the_result(measured: Path, html: str) -> None:
    """Every cell of result.json has its title in the pictures; steps and rounds have theirs."""
    parts = {
        part["name"]: part
        for test in json.loads((measured / "result.json").read_text())["tests"]
        for part in test["parts"]
    }
    says: tuple[tuple[str, str, Say], ...] = (
        ("iops", "{size:g} KiB, {mix}", lambda both: f"{text.count(both['iops'])} IOPS"),
        ("tp-128k", "{mix}", lambda both: f"{text.count(both['mb_per_s'])} MB/s"),
        ("lat", "{size:g} KiB, {mix}", lambda both: text.duration(both["mean_ns"], digits=4)),
        ("lat", "{size:g} KiB, {mix}", lambda both: text.duration(both["max_ns"], digits=4)),
    )
    for name, place, say in says:
        told = titles(html, name)
        for cell in parts[name]["cells"]:
            load = cell["load"]
            mix = f"{load['read_percent']}/{100 - load['read_percent']}"
            where = place.format(size=load["block_bytes"] / 1024, mix=mix)
            assert f"{where}: {say(cell['both'])}" in told
    for number, value in enumerate(parts["iops"]["tracking"]["values"], 1):
        assert f"round {number}, 4 KiB: {text.count(value)} IOPS" in titles(html, "iops")
    for step in parts["hir"]["afterwards"]:
        if step["pauses"]:
            idle = f"{step['pauses']['idle_s']:g} s idle, with idle time"
            assert f"{idle}: {text.count(step['iops_at_work'])} IOPS" in titles(html, "hir")


def test_titles_are_small(html: str) -> None:
    """All titles and the script add less than a third to the page."""
    added = re.findall(r'<g data-series="\d+" fill="none".*?</g>', html, re.DOTALL)
    script = re.search(r"<script>.*</script>", html, re.DOTALL)
    assert script is not None and len(added) > 40
    size = len(script[0]) + sum(map(len, added))
    assert 3 * size < len(html) - size


@pytest.mark.skipif(not PRINTS, reason="no Chromium or no pdftotext: scripts/install-tools.sh")
def test_pdf_has_text_on_every_page(html: str, tmp_path: Path) -> None:
    """No page is empty, and what it says can be searched."""
    (tmp_path / "report.pdf").write_bytes(printing.as_pdf(html))
    words = ["pdftotext", "-layout", str(tmp_path / "report.pdf"), "-"]
    said = subprocess.run(words, capture_output=True, check=True, text=True).stdout
    *pages, rest = said.split("\f")
    assert rest == ""
    assert len(pages) > len(PARTS)
    assert min(len(page.split()) for page in pages) > 5
    for wanted in (
        "slope excursion, measured",
        "IOPS over terabytes written",
        "IOPS over time, logarithmic",
        "--seed 1",
    ):
        assert wanted in said


@pytest.mark.skipif(browser.found() is None, reason="no Chromium: scripts/install-tools.sh")
@pytest.mark.parametrize("width", [1280, 390])
def test_page_in_a_browser(html: str, tmp_path: Path, width: int) -> None:
    """Every picture is drawn, nothing sticks out, light and dark differ, the console is empty."""
    page = tmp_path / "page.html"
    page.write_text(html, encoding="utf-8")
    with closing(browser.Browser(page, tmp_path / "profile", width)) as window:
        boxes = window.value(
            "[...document.querySelectorAll('svg')].map(e => e.getBoundingClientRect())"
            ".filter(b => b.width > 200 && b.height > 100).length"
        )
        assert boxes == len(re.findall("<svg", html)) > 30
        assert window.value("document.documentElement.scrollWidth") <= width
        colours = {}
        for scheme in ("light", "dark"):
            features = [{"name": "prefers-color-scheme", "value": scheme}]
            window.ask("Emulation.setEmulatedMedia", features=features)
            colours[scheme] = [
                window.value(f"getComputedStyle(document.querySelector('{what}')).{style}")
                for what, style in (("body", "backgroundColor"), ("svg text", "fill"))
            ]
        assert all(one != other for one, other in zip(*colours.values(), strict=True))
        assert window.complaints == []


CONVERGENCE = "document.querySelector('[aria-label^=\"Steady-state convergence\"]')"
TOLD = "document.getElementById('tip').innerText"


def mark(number: int) -> str:
    """Name a mark of the first picture; its lowest line is the first series."""
    return f"{CONVERGENCE}.querySelectorAll('circle')[{number}]"


@pytest.mark.skipif(browser.found() is None, reason="no Chromium: scripts/install-tools.sh")
def test_without_a_script(measured: Path, tmp_path: Path) -> None:
    """Whatever lies apart from its neighbours is what one points at in its middle."""
    page = tmp_path / "page.html"
    page.write_text(build_html(read_results([measured]), interactive=False), encoding="utf-8")
    with closing(browser.Browser(page, tmp_path / "profile")) as window:
        window.middle(CONVERGENCE)
        found = window.value(
            f"[...{CONVERGENCE}.querySelectorAll('circle')].filter(e => e.getAttribute('r') > 2)"
            ".map(e => { const b = e.getBoundingClientRect(); return document.elementFromPoint("
            "b.x + b.width / 2, b.y + b.height / 2) === e; })"
        )
        assert len(found) > 20 and all(found)
        assert window.value("document.querySelectorAll('script, [role=button]').length") == 0
        assert window.complaints == []


@pytest.mark.skipif(browser.found() is None, reason="no Chromium: scripts/install-tools.sh")
@pytest.mark.parametrize("width", [1280, 390])
def test_pictures_answer(measured: Path, html: str, tmp_path: Path, width: int) -> None:
    """Pointer, finger and arrow keys are told a value; a legend's entry puts its series away."""
    rounds = next(part for part in read(measured).parts if part.plan.name == "iops").rounds

    def said(series: int, number: int) -> str:
        part = next(part for part in read(measured).parts if part.plan.name == "iops")
        writes = [place for place, cell in enumerate(part.plan.cells) if not cell.load.read_percent]
        cell = rounds[number - 1]["cells"][writes[series]]
        size = f"{part.plan.cells[writes[series]].load.block_bytes / 1024:g} KiB"
        return f"round {number}, {size}: {text.count(cell['both']['iops'])} IOPS"

    page = tmp_path / "page.html"
    page.write_text(html, encoding="utf-8")
    many = len(rounds)
    with closing(browser.Browser(page, tmp_path / "profile", width)) as window:
        window.click(*window.middle(mark(2 * many)))
        assert window.value(TOLD) == said(2, 1)
        window.touch(*window.middle(mark(3 * many + 1)))
        assert window.value(TOLD) == said(3, 2)
        window.value(f"{CONVERGENCE}.focus()")
        for key in ("Escape", "ArrowRight", "ArrowRight", "ArrowDown"):
            window.press(key)
        assert window.value(TOLD) == said(1, 2)
        assert window.value("document.documentElement.scrollWidth") <= width

        shown = f"[...{CONVERGENCE}.querySelectorAll('[data-series]')].map(e => [e.dataset.series, "
        shown += "e.getBoundingClientRect().width > 0])"
        button = f"{CONVERGENCE}.querySelectorAll('[role=button]')[2]"
        assert all(there for _, there in window.value(shown))
        window.click(*window.middle(button))
        assert all(there == (series != "2") for series, there in window.value(shown))
        assert window.value(f"{button}.getAttribute('aria-pressed')") == "false"
        window.click(*window.middle(f"{CONVERGENCE}.querySelector('circle')"))
        assert said(2, 1) not in window.value(TOLD)
        window.value(f"{button}.focus()")
        window.press("Enter")
        assert all(there for _, there in window.value(shown))
        assert window.complaints == []
