"""Steady state: the rule, what it allows and what was measured, as rows of text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ssdlab.bench.report.charts import QUANTITIES
from ssdlab.bench.report.conditions import ConditionRows
from ssdlab.bench.report.reading import PartRead
from ssdlab.ground import text


def determination_rows(part: PartRead) -> ConditionRows:
    """Return the rule of steady state, allowed and measured."""
    assert part.summary is not None, "there is a round"
    tracking, judged = part.plan.tracking, part.summary["judged"]
    rows = [("tracking variable", f"{QUANTITIES[tracking.figure].label}, {tracking.cell}")]
    rows += _no_window(part) if judged is None else _window(part, judged)
    reached = judged is not None and judged["steady"]
    rows.append(("steady state", "reached" if reached else "NOT reached"))
    if (stated := part.summary.get("stated")) is not None:
        rows.append(("steady state, as TKperf states", stated))
    return rows


def _no_window(part: PartRead) -> ConditionRows:
    stop = part.plan.stop
    last = stop.window * stop.stride
    return [("window", f"none: it needs {stop.window} rounds, the last of them round {last}")]


def _window(part: PartRead, judged: Mapping[str, Any]) -> ConditionRows:
    figure, correlation = part.plan.tracking.figure, judged["correlation"]

    def share(name: str) -> str:
        part_of = judged[name] / judged["average"] if judged["average"] else None
        return f"{_value(figure, judged[name])} ({text.percent(part_of, 2)} of the average)"

    return [
        ("rounds of the window", ", ".join(map(str, judged["rounds"]))),
        ("average", _value(figure, judged["average"])),
        ("data excursion, allowed", share("allowed_range")),
        ("data excursion, measured", share("data_range")),
        ("slope excursion, allowed", share("allowed_excursion")),
        ("slope excursion, measured", share("excursion")),
        ("least-squares line", _line(judged, figure, part.plan.stop.stride)),
        ("correlation", text.NOTHING if correlation is None else f"{correlation:.4f}"),
    ]


def _value(figure: str, number: float) -> str:
    if figure == "mean_ns":
        return text.duration(number)
    return f"{text.significant(number, 5)} {QUANTITIES[figure].label}"


def _line(judged: Mapping[str, Any], figure: str, stride: int) -> str:
    """Write the line over the number of the round, R."""
    factor, unit = (1e-3, " µs") if figure == "mean_ns" else (1.0, "")
    slope = judged["slope"] / stride
    at_zero = judged["intercept"] - slope * judged["rounds"][0]
    return f"y = {slope * factor:.6g} · R {at_zero * factor:+.7g}{unit}".replace("+", "+ ")
