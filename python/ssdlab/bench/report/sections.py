"""The pages of each part: which pictures and tables its test has in the standard's report."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ssdlab.bench.report import bars, charts, written
from ssdlab.bench.report.charts import FIVE_NINES, IOPS, MAXIMUM, MEAN, RATE
from ssdlab.bench.report.conditions import ConditionRows, part_rows
from ssdlab.bench.report.determination import determination_rows
from ssdlab.bench.report.reading import PartRead
from ssdlab.bench.table import Table, heading, tables

Pictures = Iterator[str | None]


@dataclass(frozen=True)
class Section:
    """What the page shows of a part.

    Attributes
    ----------
    title
        With what a reader must not miss.
    header, determination
        Pairs: what it is, and what it is here.
    convergence, figures
        Pictures: on the way to steady state, and of what was measured in it.
    tables
        Figures in the window.
    steps
        Rows: bytes by the drive's log.
    raw
        How many values the tracking variable has, and its values, with six digits.
    """

    title: str
    header: ConditionRows
    determination: ConditionRows
    convergence: list[str]
    figures: list[str]
    tables: list[Table]
    steps: list[tuple[str, ...]]
    all_steps: int
    raw: list[str]


def section(part: PartRead, name: str) -> Section:
    """Return the section of a part that has a round.

    Parameters
    ----------
    part
        The part.
    name
        Unique on the page, for its pictures.
    """
    assert part.summary is not None, "there is a round"
    on_the_way, figures = _PICTURES[part.test["name"]]
    shown = tables({"tests": [{**part.test, "parts": [part.summary]}]})
    steps = written.steps_of(part)
    title = heading(part.summary, f"{part.test['title']} ({part.plan.name})")
    return Section(
        title=title[0].upper() + title[1:],
        header=part_rows(part),
        determination=determination_rows(part),
        convergence=[each for each in on_the_way(part, f"{name}-c") if each],
        figures=[each for each in figures(part, f"{name}-f") if each],
        tables=list(shown)[1:],
        steps=written.rows_of(steps),
        all_steps=len(steps),
        raw=[f"{value:.6g}" for value in part.summary["tracking"]["values"]],
    )


def _of_iops(part: PartRead, name: str) -> Pictures:
    yield charts.convergence(part, IOPS, 0, f"{name}1")
    yield from _window_and_log(part, name)


def _of_tp(part: PartRead, name: str) -> Pictures:
    yield charts.convergence(part, RATE, 100, f"{name}0")
    yield charts.convergence(part, RATE, 0, f"{name}1")
    yield from _window_and_log(part, name)


def _of_lat(part: PartRead, name: str) -> Pictures:
    for number, quantity in enumerate((MEAN, FIVE_NINES, MAXIMUM)):
        yield charts.convergence(part, quantity, 0, f"{name}1{number}")
    yield from _window_and_log(part, name)


def _window_and_log(part: PartRead, name: str) -> Pictures:
    yield charts.window(part, f"{name}2")
    yield charts.amplification(part, written.factors_of(part), f"{name}3")


def _figures_of_iops(part: PartRead, name: str) -> Pictures:
    yield charts.by_size(part, IOPS, f"{name}1", log=True)
    yield bars.matrix(part, IOPS, f"{name}2")


def _figures_of_tp(part: PartRead, name: str) -> Pictures:
    yield charts.by_mix(part, RATE, f"{name}1")


def _figures_of_lat(part: PartRead, name: str) -> Pictures:
    for number, quantity in enumerate((MEAN, FIVE_NINES, MAXIMUM)):
        yield charts.by_size(part, quantity, f"{name}1{number}", log=False)
        yield bars.matrix(part, quantity, f"{name}2{number}")


def _of_wsat(part: PartRead, name: str) -> Pictures:
    yield charts.saturation(part, "time", f"{name}1")
    yield charts.saturation(part, "time", f"{name}7", log=True)
    yield charts.saturation(part, "written", f"{name}4")
    yield charts.saturation(part, "written", f"{name}8", log=True)
    yield charts.response_times(part, "time", f"{name}5")
    yield charts.response_times(part, "written", f"{name}6")
    yield from _window_and_log(part, name)


def _no_figures(_part: PartRead, _name: str) -> Pictures:
    yield None


def _figures_of_hir(part: PartRead, name: str) -> Pictures:
    yield charts.recovery(part, f"{name}1")


_Draw = Callable[[PartRead, str], Pictures]
_PICTURES: dict[str, tuple[_Draw, _Draw]] = {
    "iops": (_of_iops, _figures_of_iops),
    "tp": (_of_tp, _figures_of_tp),
    "lat": (_of_lat, _figures_of_lat),
    "wsat": (_of_wsat, _no_figures),
    "hir": (_of_wsat, _figures_of_hir),
}
