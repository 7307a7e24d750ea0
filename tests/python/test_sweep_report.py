"""The report of a sweep: what its charts say, and what a reader can do with them."""

from __future__ import annotations

import json
import math
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import browser
import ssdlab
from ssdlab.engine.result import Result
from ssdlab.ground.errors import SsdlabError
from ssdlab.report import theme
from ssdlab.study.sweeps.report import write_sweep_report
from ssdlab.study.sweeps.report.axis import Across
from ssdlab.study.sweeps.report.effects import effects
from ssdlab.study.sweeps.report.page import build_html
from ssdlab.study.sweeps.report.reading import read
from ssdlab.study.sweeps.store import SweepStore
from ssdlab.study.sweeps.strict import parse
from test_sweep import STUDY, table
from test_sweep_study import BASE

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
MANY = 10_000
_PAPER = "getComputedStyle(document.body).backgroundColor"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("sweep")
    ssdlab.sweep(parse(STUDY), made)
    return made


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a folder of ten thousand rows whose figures are made up."""
    made = tmp_path_factory.mktemp("many")
    depths = '[factors]\n"job.iodepth" = { from = 1, to = 100, steps = 100 }\n'
    (made / "study.toml").write_text(
        BASE + "seeds = 50\n" + depths + 'ftl.gc = ["greedy", "fifo"]\n'
    )
    store = SweepStore(made, {"drive": "string", "job.iodepth": "int64", "ftl.gc": "string"})
    for number in range(MANY):
        depth, seed = number % 100 + 1, number // 200 + 1
        figures = {"iops": 1e3 + 37 * number % 9973, "write_amplification": 1 + number * 91 % 997}
        row = {"key": f"{number:024}", "drive": "theory", "seed": seed, "job": "job", **figures}
        gc = ("greedy", "fifo")[number // 100 % 2]
        store.add([{**row, "job.iodepth": depth, "ftl.gc": gc, "write_p99_us": 5.0 * depth}])
    store.flush()
    return made


def embedded(page: str) -> dict[str, Any]:
    """Give what the page's script draws."""
    found = re.search(r'id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, Any] = json.loads(found[1])
    return data


def test_effects_are_means_over_all_else(folder: Path) -> None:
    """Level by level, with Student's interval over the two seeds: t(0.975, 1) = 12.706."""
    rows = table(folder)
    found = effects(rows, "ftl.gc", "iops")
    assert [each.level for each in found] == ["greedy", "fifo"]
    for each in found:
        of_seed = {
            seed: [r["iops"] for r in rows if r["ftl.gc"] == each.level and r["seed"] == seed]
            for seed in (1, 2)
        }
        means = [sum(values) / len(values) for values in of_seed.values()]
        assert each.mean == pytest.approx(sum(means) / 2)
        assert each.half == pytest.approx(
            12.7062 * abs(means[0] - means[1]) / 2, rel=1e-4, abs=1e-9
        )


def test_a_sampled_factor_is_cut_into_groups() -> None:
    """Eight groups of as many points; each point is in one."""
    rows = [{"x": at / 100, "f": float(at), "seed": 1} for at in range(100)]
    found = effects(rows, "x", "f")
    assert len(found) == 8
    assert [each.mean for each in found[:2]] == [6.0, 19.0]


@pytest.mark.parametrize(
    ("levels", "scale", "ticks"),
    [
        ([32, 1, 4], "log", {"1": 1, "4": 4, "32": 32}),
        (["64k", "4k", "1m"], "log", {"4k": 4096, "64k": 65536, "1m": 2**20}),
        ([0.1, 0.3, 0.2], "linear", {"0.1": 0.1, "0.2": 0.2, "0.3": 0.3}),
        ([0, 1, 100], "linear", {"0": 0, "100": 100}),
        (["greedy", "fifo"], "linear", {"greedy": 0, "fifo": 1}),
        (["none", 7], "linear", {"none": 0, "7": 1}),
    ],
)
def test_numbers_stand_on_an_axis_of_numbers(
    levels: list[Any], scale: str, ticks: dict[str, float]
) -> None:
    """Logarithmic where ratios part them best; labels that have no room are left out."""
    axes = theme.figure(3, 2).subplots()
    Across.of(levels).draw(axes, 2.4)
    assert axes.get_xscale() == scale
    labels = [each.get_text() for each in axes.get_xticklabels()]
    assert dict(zip(labels, axes.get_xticks(), strict=True)) == pytest.approx(ticks)


def test_the_command_of_a_point_gives_its_row(folder: Path, command: Command) -> None:
    """Copied from the page into a shell, it gives the row's figures to the digit."""
    data = embedded(build_html(folder))
    rows = read(folder).rows
    for number in (0, len(rows) - 1):
        words = shlex.split(" ".join(data["words"][at] for at in data["commands"][number]))
        code, _, err = command(*words[1:], "--output-format", "json", "-o", "again.json")
        assert code == 0, err
        assert Result.load("again.json").job().iops() == rows[number]["iops"]


def test_the_page_is_made_while_the_study_runs(folder: Path, command: Command) -> None:
    """From the rows alone; without any it is told; a sweep has a page of its own."""
    (folder / "table.parquet").unlink()
    assert command("report", str(folder), "-o", "new.html")[0] == 0
    page = Path("new.html").read_text()
    assert page.rstrip().endswith("</html>")
    assert not re.search(r'(?:src|href)="http', page)
    code, _, err = command("report", str(folder), str(folder), "-o", "new.html")
    assert (code, "name the folder of one sweep" in err) == (2, True)


def test_a_sweep_without_figures_is_told(tmp_path: Path) -> None:
    """Before the first point has ended there is nothing to draw."""
    (tmp_path / "study.toml").write_text(STUDY)
    with pytest.raises(SsdlabError, match="no point with figures has ended yet"):
        write_sweep_report(tmp_path, tmp_path / "new.html")
    assert not (tmp_path / "new.html").exists()


@pytest.mark.skipif(browser.found() is None, reason="no Chromium")
@pytest.mark.parametrize("width", [1280, 390])
def test_the_page_reacts(many: Path, tmp_path: Path, width: int) -> None:
    """Ten thousand points: a click chooses, a drag brushes, another figure gives another front."""
    write_sweep_report(many, tmp_path / "page.html")
    page = browser.Browser(tmp_path / "page.html", tmp_path / "browser", width)
    try:
        assert page.value("sweepReport.rows") == MANY
        assert page.value("document.documentElement.scrollWidth") == width
        front = page.value("sweepReport.front()")
        assert front == front_of(read(many).rows)
        choose_by_click(page, front[0])
        assert distance(page, page.value("sweepReport.chosen()"), front[0]) < 2
        assert "--seed" in page.value("document.querySelector('#chosen pre').textContent")
        drag(page, "write_amplification", 0.0, 0.5)
        # The axis is logarithmic: its lower half ends at the root of lowest times highest.
        values = [row["write_amplification"] for row in read(many).rows]
        middle = math.sqrt(min(values) * max(values))
        wanted = sum(value <= middle for value in values)
        assert page.value("sweepReport.kept()") == pytest.approx(wanted, rel=0.1)
        page.value("document.getElementById('clear').click()")
        assert page.value("sweepReport.kept()") == MANY
        page.value("(e => { e.value = 'write_p99_us'; e.dispatchEvent(new Event('change')) })(up)")
        page.value("sweepReport.redrawn()")
        assert page.value("sweepReport.front()") != front
        dark = [{"name": "prefers-color-scheme", "value": "dark"}]
        light = page.value(_PAPER)
        page.ask("Emulation.setEmulatedMedia", features=dark)
        page.value("sweepReport.redrawn()")
        assert page.value(_PAPER) != light
        assert page.complaints == []
    finally:
        page.close()


def front_of(rows: Any) -> list[int]:
    """Give the points that no other one beats: more IOPS, less write amplification."""
    order = sorted(
        range(len(rows)), key=lambda i: (-rows[i]["iops"], rows[i]["write_amplification"])
    )
    found, best = [], float("inf")
    for i in order:
        if rows[i]["write_amplification"] < best:
            best = rows[i]["write_amplification"]
            found.append(i)
    return found


def choose_by_click(page: browser.Browser, point: int) -> None:
    page.middle("document.getElementById('trade')")
    place = f"sweepReport.dot({point})"
    x, y = page.value(
        f"(() => {{ const b = trade.getBoundingClientRect(), [x, y] = {place};"
        "return [b.x + x, b.y + y]; })()"
    )
    page.click(x, y)


def distance(page: browser.Browser, one: int, other: int) -> float:
    """Give how far apart two points are drawn, in pixels."""
    places = [page.value(f"sweepReport.dot({point})") for point in (one, other)]
    return math.dist(*places)


def drag(page: browser.Browser, lane: str, low: float, high: float) -> None:
    """Drag along an axis of the parallel coordinates."""
    page.middle("document.getElementById('lines')")
    ends = page.value(
        f"(() => {{ const b = lines.getBoundingClientRect();"
        f"return sweepReport.lane('{lane}').map(([x, y]) => [b.x + x, b.y + y]); }})()"
    )
    moves = [("mousePressed", low), ("mouseMoved", (low + high) / 2), ("mouseMoved", high)]
    for kind, share in [*moves, ("mouseReleased", high)]:
        x, y = (start + share * (end - start) for start, end in zip(*ends, strict=True))
        page.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
