"""Every page that ssdlab makes is readable on a phone, on a desk and on paper."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from functools import cache
from importlib import resources
from pathlib import Path

import pytest

import browser
import pretended
import readable
import ssdlab.cli
import synthetic
from ssdlab import engine
from ssdlab.bench.report.page import build_html as pts_page
from ssdlab.bench.report.sources import read_results
from ssdlab.live.page import build_html as live_page
from ssdlab.machine.health.simulated import smart_json
from ssdlab.machine.health.smart_text import Parts, smart_text
from ssdlab.referee.reproduce import QUICK
from ssdlab.referee.reproduce.catalogue import questions
from ssdlab.referee.reproduce.document import Answer
from ssdlab.referee.reproduce.page import build_html as reproduce_page
from ssdlab.report.ensemble.page import build_html as ensemble_page
from ssdlab.report.kept_drive.page import build_html as kept_drive_page
from ssdlab.report.page import build_html as report_page
from ssdlab.study.demo import plan
from ssdlab.study.explain import recorded
from ssdlab.study.explain.page import build_html as explain_page
from ssdlab.study.sweeps.report.page import build_html as sweep_page
from ssdlab.study.sweeps.store import SweepStore
from test_demo import part
from test_ensemble_compare import arm, figure
from test_pts_report import DRIVE
from test_report import two_runs
from test_reproduce import answered
from test_serving_page import history as live_history
from test_sweep_study import BASE

pytestmark = pytest.mark.end_to_end

NEEDS_BROWSER = pytest.mark.skipif(browser.found() is None, reason="no Chromium")


def _report(_folder: Path) -> str:
    return report_page(two_runs()[:1])


def _compared(_folder: Path) -> str:
    """Many runs of reads and writes with names that are long."""
    drives = [f"a-drive-whose-name-is-long-{number}" for number in range(10)]
    jobs = [synthetic.job("mixed-reads-and-writes", rw="randrw", profile=each) for each in drives]
    return report_page([synthetic.result(job, name=f"{at}.json") for at, job in enumerate(jobs)])


def _demo(_folder: Path) -> str:
    return report_page([part(name) for name in plan.parts()])


def _ensemble(_folder: Path) -> str:
    name = "a job with a name that takes a line of its own, and a part of another"
    figures = [figure([1.0, 2.0], job=name)]
    return ensemble_page([arm("a.json", *figures), arm("b.json", *figures)])


@cache
def _answers() -> list[Answer]:
    return [answered(question) for question in questions()]


def _reproduce(_folder: Path) -> str:
    return reproduce_page(_answers(), QUICK, "0")


def _explain(_folder: Path) -> str:
    return explain_page(recorded(), "0")


def _sweep(folder: Path) -> str:
    """Numbers in equal steps and in equal ratios, sizes and texts, with figures made up."""
    (folder / "study.toml").write_text(
        BASE + "seeds = 2\n[factors]\n"
        '"job.iodepth" = [1, 4, 16, 64]\nover_provisioning = [0.1, 0.2, 0.3]\n'
        '"job.bs" = ["4k", "16k", "1m"]\n"ftl.gc" = ["greedy", "fifo"]\n'
    )
    factors = {"job.iodepth": "int64", "over_provisioning": "double"}
    store = SweepStore(
        folder, {"drive": "string", **factors, "job.bs": "string", "ftl.gc": "string"}
    )
    for number in range(144):
        depth, spare = (1, 4, 16, 64)[number % 4], (0.1, 0.2, 0.3)[number // 4 % 3]
        size, gc = ("4k", "16k", "1m")[number // 12 % 3], ("greedy", "fifo")[number // 36 % 2]
        row = {"key": f"{number:024}", "drive": "theory", "seed": 1 + number // 72, "job": "job"}
        row |= {"iops": 1e4 * depth / (1 + number % 7), "write_amplification": 1 / spare}
        row |= {"write_p99_us": 1e5 * depth, "write_mean_us": 1e4 * depth}
        row |= {"job.iodepth": depth, "over_provisioning": spare, "job.bs": size, "ftl.gc": gc}
        store.add([row])
    store.flush()
    return sweep_page(folder)


def _pts(folder: Path) -> str:
    words = ("--tests", "iops,lat", "--cell-seconds", "0.1", "-o", str(folder / "pts"))
    assert ssdlab.cli.main(["pts", *DRIVE, *words]) == 0
    return pts_page(read_results([folder / "pts"]))


def _kept_drive(folder: Path) -> str:
    old = str(folder / "old.ssd")
    small = ("theory", "--set", "capacity_bytes=64MiB", "--set", "nand.pages_per_block=16")
    assert ssdlab.cli.main(["season", *small, "--to", "steady", "-o", old]) == 0
    shown = engine.show(old)
    smart = smart_text(smart_json(shown, "my-drive"), Parts(health=True, attributes=True))
    return kept_drive_page("my-drive", shown, smart)


def _live(_folder: Path) -> str:
    return live_page(pretended.STATS, live_history())


PAGES: dict[str, tuple[str, Callable[[Path], str]]] = {
    "report": ("ssdlab.report", _report),
    "compared": ("ssdlab.report", _compared),
    "demo": ("ssdlab.report", _demo),
    "ensemble": ("ssdlab.report.ensemble", _ensemble),
    "kept drive": ("ssdlab.report.kept_drive", _kept_drive),
    "reproduce": ("ssdlab.referee.reproduce", _reproduce),
    "explain": ("ssdlab.study.explain", _explain),
    "sweep": ("ssdlab.study.sweeps.report", _sweep),
    "pts": ("ssdlab.bench.report", _pts),
    "live": ("ssdlab.live.page", _live),
}
"""Every page: the package of its template, and what makes one."""


def test_every_template_is_looked_at() -> None:
    """A package that has a page of its own has one among those here."""
    root = Path(str(resources.files("ssdlab")))
    packages = {
        ".".join(("ssdlab", *path.parent.relative_to(root).parts))
        for path in root.rglob("page.html.j2")
    }
    assert packages == {package for package, _ in PAGES.values()}


@NEEDS_BROWSER
@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_readable(name: str, tmp_path: Path) -> None:
    """On a phone as on a desk no chart is cut, scrolls or has letters that are small or huge."""
    with closing(readable.open_page(PAGES[name][1](tmp_path), tmp_path)) as window:
        on_a_phone = readable.charts(window)
        for width in (readable.PHONE, readable.NARROWEST_WIDE, readable.DESK):
            readable.at(window, width)
            assert readable.faults(window) == [], width
            assert readable.charts(window) == on_a_phone, "as many, whatever the width"
        assert on_a_phone or name == "explain"
        window.ask("Emulation.setEmulatedMedia", media="print")
        readable.at(window, readable.PAPER)
        letters = readable.faults(window, readable.SMALLEST_ON_PAPER)
        # What has no room on paper beside its tables is told by tables.
        assert [each for each in letters if not each.startswith("sticks out: T")] == []
        assert window.complaints == []


@NEEDS_BROWSER
def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    """A chart that scrolls, that is shrunk or blown up, whose words are cut, or without marks."""
    drawn = '<svg viewBox="0 0 {0} 50" style="{1}" aria-label="{2}">{3}</svg>'
    mark = '<path d="M1 1L9 9"/><text x="{0}" y="20" style="font-size: 9px">words</text>'
    pictures = (
        ("500", "width: 500px", "scrolled", mark.format(9)),
        ("900", "width: 340px", "shrunk", mark.format(9)),
        ("340", "width: 340px", "cut", mark.format(330)),
        ("100", "width: 340px", "blown up", mark.format(9)),
        ("300", "width: 340px", "empty", ""),
        ("300", "width: 340px", "fine", mark.format(9)),
    )
    figure = '<figure style="overflow-x: auto">{0}</figure>'
    figures = "".join(figure.format(drawn.format(*each)) for each in pictures)
    html = f"<!DOCTYPE html><body style='margin: 0'>{figures}</body>"
    with closing(readable.open_page(html, tmp_path)) as window:
        told = readable.faults(window)
    assert any(each.startswith("scrolls sideways: FIGURE") for each in told)
    assert 'cut: "words" in cut' in told and "nothing is drawn in empty" in told
    assert '3.4 pixels: "words" in shrunk' in told and '30.6 pixels: "words" in blown up' in told
    assert not any(each.endswith("in fine") for each in told)


@NEEDS_BROWSER
def test_the_forest_plot_has_its_dots_on_a_phone(tmp_path: Path) -> None:
    """Each judged ratio has its name and, right of the page's edge, a dot or an arrowhead."""
    judged = [row.condition for each in _answers() for row in each.rows if row.quotient is not None]
    with closing(readable.open_page(_reproduce(tmp_path), tmp_path)) as window:
        plot = "document.querySelector('.narrow svg[aria-label^=\"every judged ratio\"]')"
        dots = (
            f"[...{plot}.querySelectorAll('use')].filter(e => /series-[38]/.test(e.style.cssText))"
            ".map(e => e.getBoundingClientRect()).filter(b => b.left > 0 && b.right < 390).length"
        )
        words = window.value(f"[...{plot}.querySelectorAll('text')].map(e => e.textContent)")
        assert len(judged) > 40
        # Two dots more stand in the legend.
        assert window.value(dots) == len(judged) + 2
        shown = " ".join(words)
        assert [each for each in judged if each.split(" ")[0] not in shown] == []
