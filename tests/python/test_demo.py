"""The demo: its plan, its arithmetic, and its page."""

from __future__ import annotations

from typing import Any

import pytest

import synthetic
from ssdlab import engine
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Result
from ssdlab.report.page import build_html
from ssdlab.study.demo import figures, plan
from ssdlab.study.demo.opening import opening
from test_report import Page

pytestmark = pytest.mark.end_to_end

_SPEED = {"fresh": 21_000.0, "steady": 7000.0, "unused-20": 14_000.0, "fall": 9000.0}


def part(name: str, **lab: Any) -> Result:
    """One part of the demo, as fast as its remedy makes it."""
    measured = next(
        each for drive in plan.drives() for each in drive.measurements if each.part == name
    )
    iops = next((speed for remedy, speed in _SPEED.items() if name.endswith(remedy)), 10_000.0)
    job = synthetic.job(measured.job_name, iops=iops, write_amplification=2.0)
    job["ssdlab"].update(lab)
    about = {"name": "demo", "part": name, "label": measured.label}
    facts = {"flash_bytes": 94_500_000_000, "load_bytes_per_day": plan.LOAD_BYTES_PER_DAY}
    return Result({"jobs": [job], "ssdlab experiment": {**about, **facts}}, f"{name}.json")


def test_every_part_is_measured_once_and_shown() -> None:
    """The plan measures what the table and the chart show, no more and no less."""
    measured = [each.part for drive in plan.drives() for each in drive.measurements]
    assert sorted(measured) == sorted(plan.parts())
    assert {figure for figure in figures.published_figures()} <= set(plan.parts())


def test_what_is_left_unused_is_never_written() -> None:
    """A drive that leaves 20 % unused is seasoned and measured within the other 80 %."""
    drive = next(drive for drive in plan.drives() if drive.label.startswith("20 %"))
    assert drive.is_steady and drive.span == 0.8
    for measurement in drive.measurements:
        assert "\nsize=80%\n" in measurement.job_text


def test_lifetime_by_hand() -> None:
    """94.5 GB of flash, 3000 cycles, WA 2, 20 GB a day: 7087.5 days, 19.4 years."""
    (figure,) = figures.figures([part("randwrite-steady")])
    assert figure.years == pytest.approx(94.5 * 3000 / (2 * 20) / 365.25)


def test_what_cannot_last_has_no_lifetime() -> None:
    """A fresh drive does not stay fresh, so no years are computed from it."""
    (figure,) = figures.figures([part("randwrite-fresh")])
    assert figure.years is None


def test_a_smaller_drive_is_said_to_be_one() -> None:
    """Where the capacity was set, the page and the table say so; else they do not."""
    size = synthetic.PARAMETERS[0]
    for kind in ("set", "datasheet"):
        lines = figures.provenance([part("randwrite-steady", parameters=[{**size, "kind": kind}])])
        assert any("years are those of the whole drive" in line for line in lines) is (
            kind == "set"
        )


def test_reads_wear_nothing() -> None:
    """A job that writes nothing has no lifetime."""
    (figure,) = figures.figures([part("readiops-steady", write_amplification=None)])
    assert figure.years is None


def test_gain_is_against_the_same_job_in_steady_state() -> None:
    """Random writes with 20 % unused are twice as fast as steady ones here."""
    found = figures.figures([part("randwrite-steady"), part("randwrite-unused-20")])
    assert [figure.against_steady for figure in found] == [1, 2]


def test_fitted_figures_are_not_shown_as_predicted() -> None:
    """The published 100 MB/s is marked where the profile was fitted to it, and only there."""
    fitted = {**synthetic.PARAMETERS[3], "key": "nand.program_us", "kind": "fitted"}
    for kind, marked in (("fitted", True), ("assumed", False)):
        results = [part("writetp-fresh", parameters=[{**fitted, "kind": kind}])]
        assert ("not predicted, because nand.program_us" in figures.rows(results)[0][-1]) is marked
        assert figures.brief_rows(results)[0][-1] == "100 MB/s" + "*" * marked
        assert any("nand.program_us" in line for line in figures.provenance(results)) is marked


def test_page_opens_with_the_fall_and_closes_with_three_commands() -> None:
    """The first chart is the fall; the last lines are one's own job, drive and policy."""
    html = build_html([part(name) for name in plan.parts()], opening=opening)
    page = Page(html)
    assert page.headings[0] == "An SSD once it is no longer new"
    first_chart = html[html.index("<svg") : html.index("</svg>")]
    assert "Random writes to a fresh drive" in first_chart
    assert "× 2.0" in first_chart
    commands = [line for line in html.splitlines() if line.startswith("<pre>")]
    assert len(commands) == 3
    for command, own in zip(commands, ("your-job", "your-drive", "victim-policy"), strict=True):
        assert own in command


def test_page_of_a_demo_that_was_stopped() -> None:
    """With parts missing the page is still made of what there is."""
    page = Page(build_html([part("randwrite-fresh"), part("readtp-fresh")], opening=opening))
    assert page.headings[0] == "An SSD once it is no longer new"


def test_the_fall_falls() -> None:
    """Passes have orders of their own, so that the drive has to collect: not by fio's default."""
    measured = (each for drive in plan.drives() for each in drive.measurements)
    (job,) = (each.job_text for each in measured if each.part == "fall")

    def amplification(job_text: str) -> float:
        settings = (("capacity_bytes", "1 GiB"),)
        request = RunRequest("intel-dc-s3500-80gb", settings, job_text=job_text)
        return Result.from_json(engine.run(request)).job().write_amplification or 0.0

    assert amplification(job) > 2
    assert amplification(job.replace("randrepeat=0\n", "")) < 1.05
