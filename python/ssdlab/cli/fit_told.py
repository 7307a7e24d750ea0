"""What ``ssdlab fit`` found: each number, and how well the fitted drive agrees."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ssdlab.cli.console import note, print_table, print_text
from ssdlab.ground import text
from ssdlab.study.fitting.measurement import Measurement
from ssdlab.study.fitting.misfit import Misfit
from ssdlab.study.fitting.point import Estimate, FittedDrive
from ssdlab.study.fitting.prediction import MeasurementPrediction, predict
from ssdlab.study.fitting.profile import interval
from ssdlab.study.fitting.waves import Fit


@dataclass(frozen=True)
class ToldFit:
    """A fit, for people and for programs.

    Attributes
    ----------
    done, point, judged
        The waves, the fitted place, and how well it agrees.
    drive
        The fitted drive's figure of each measurement.
    seed
        Of the predictions' scatter.
    """

    done: Fit
    point: FittedDrive
    judged: Misfit
    drive: Any
    seed: int

    def show(self) -> None:
        """Say what was fitted, how well, and what stays open."""
        rows = [
            (
                each.unknown.name,
                each.unknown.show(self.done.space.base[number]),
                each.unknown.show(each.place) if each.fitted else "",
                interval(each),
                _state(each),
            )
            for number, each in enumerate(self.point.estimates)
        ]
        print_table(("number", "base", "fitted", "90 % interval", ""), rows, right=(1, 2))
        print_text("")
        cells = [
            _row(each, expected, _remark(found, outlier=outlier))
            for each, expected, found, outlier in self._compared()
        ]
        headings = ("measurement", "measured", "model", "difference", "")
        print_table(headings, cells, right=(1, 2, 3))
        open_ones = [each.unknown.name for each in self.point.estimates if not each.fitted]
        if open_ones:
            note(
                f"ssdlab: the measurements do not determine {', '.join(open_ones)}: these keep the "
                "base's values; ssdlab fit --plan says what to measure"
            )

    def as_data(self) -> dict[str, Any]:
        """Return the same for programs."""
        numbers = [
            {
                "name": each.unknown.name,
                "base": each.unknown.show(self.done.space.base[number]),
                "fitted": each.unknown.show(each.place) if each.fitted else None,
                "interval": [each.unknown.show(each.low), each.unknown.show(each.high)],
                "state": _state(each),
            }
            for number, each in enumerate(self.point.estimates)
        ]
        measurements = [
            {
                "measurement": each.label,
                "place": each.place,
                "measured": each.value,
                "model": expected,
                "held_back": held,
                "interval": None if found is None else [found.low, found.high],
                "outlier": outlier,
            }
            for (each, expected, found, outlier), held in zip(
                self._compared(), self.done.held_back, strict=True
            )
        ]
        return {"numbers": numbers, "measurements": measurements}

    def _compared(
        self,
    ) -> Iterator[tuple[Measurement, float | None, MeasurementPrediction | None, bool | None]]:
        """Give each measurement, what the model says, its prediction, and whether it is outlying.

        The last is None for one that was held back, whose prediction may be None, too.
        """
        outliers = iter(self.judged.outliers)
        columns = zip(self.done.measurements, self.done.held_back, strict=True)
        for column, (each, held) in enumerate(columns):
            if held:
                found = predict(each, self.done.last.figures[:, column], self.seed)
                yield each, None if found is None else found.median, found, None
            else:
                yield each, float(self.drive[column]), None, bool(next(outliers))


def _state(estimate: Estimate) -> str:
    if estimate.determined:
        return "fitted"
    return "with others" if estimate.freed else "not determined"


def _remark(found: MeasurementPrediction | None, *, outlier: bool | None) -> str:
    if outlier is not None:
        return "outlier" if outlier else "fitted"
    if found is None:
        return "no prediction"
    verdict = "inside" if found.inside else "outside"
    between = f"{text.significant(found.low)} … {text.significant(found.high)}"
    return f"held back: {verdict} {between}"


def _row(measurement: Measurement, expected: float | None, remark: str) -> tuple[str, ...]:
    measured = text.significant(measurement.value, 4)
    if expected is None:
        return (measurement.label, measured, "", "", remark)
    difference = f"{(expected / measurement.value - 1) * 100:+.1f} %"
    return (measurement.label, measured, text.significant(expected, 4), difference, remark)
