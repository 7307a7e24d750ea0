"""Latencies of the probe at low rates: tR, a write's time, its random time, suspension.

Far from busy a request's time is a sum, so what is missing in a figure is missing in its part; a
few rounds settle what one number does to the other's figure:

    tR += missing in the reads' median          write's time += missing in the writes' median
    random time *= (p99 - median of writes) measured / simulated
    suspension += missing in the reads' 99th percentile, without that in the median

Where two rates were measured, the mean of what is missing counts. Left out: p99.9, which the
recipe does not look at.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from ssdlab import engine
from ssdlab.engine import Progress
from ssdlab.engine.shown import parameters
from ssdlab.experiment.kept import Figures
from ssdlab.study.twin.goals import Goal
from ssdlab.study.twin.runs import SliceRuns
from ssdlab.study.twin.solve import OutOfReach, after
from ssdlab.study.twin.twin import Twin

_ROUNDS = 5
_CLOSE_US = 0.3
_NEAR = 0.1
"""A median that stays further away than this share is out of reach; a tail is told as missed."""
_KEYS = {
    "read_p50_us": "nand.read_us",
    "write_p50_us": "controller.write_latency_us",
    "write_p99_us": "controller.latency_jitter_us",
    "read_p99_us": "nand.suspend_us",
}
LOW = ("read_p50_us", "write_p50_us", "write_p99_us")
TAIL = ("read_p99_us",)


def settle(
    goals: Sequence[Goal], names: Sequence[str], twin: Twin, runs: SliceRuns, progress: Progress
) -> None:
    """Fit the numbers of these figures, if any of them was measured.

    Raises
    ------
    OutOfReach
        A median is not met by any time above 0.
    """
    fitted = [each for each in goals if each.name in names]
    if not fitted:
        return
    rates = sorted({each.rate for each in fitted})
    found: Figures = {}
    for number in range(_ROUNDS):
        found = runs.latencies(rates, twin.settings(), after(progress, number))
        missing = _missing(fitted, found)
        if number == _ROUNDS - 1 or all(abs(each) < _CLOSE_US for each in missing.values()):
            break
        _add(fitted, missing, found, twin)
    _say_source(fitted, twin)
    for each in fitted:
        reached = found[_key(each)]
        is_near = abs(reached / each.value - 1) <= _NEAR
        if each.name.endswith("p50_us") and not is_near:
            raise OutOfReach(
                f"{each.place}: {each.label} {each.value:g}: out of reach: with what the data "
                f"sheet and the base say of the rest it is {reached:.4g} us at least\n"
                "check the figure, or begin with a base of another make"
            )
        twin.compare(each, reached, "fitted" if is_near else "missed")


def compared(goals: Sequence[Goal], twin: Twin, runs: SliceRuns, progress: Progress) -> None:
    """Predict latencies."""
    rates = sorted({each.rate for each in goals})
    found = runs.latencies(rates, twin.settings(), progress)
    for each in goals:
        twin.compare(each, found[_key(each)], "predicted")


def _key(goal: Goal) -> str:
    return f"{goal.name.removesuffix('_us')} {goal.rate}"


def _missing(fitted: Sequence[Goal], found: Figures) -> dict[str, float]:
    """Return what is missing in µs by figure: the mean over its rates."""
    return {
        name: fmean(each.value - found[_key(each)] for each in fitted if each.name == name)
        for name in dict.fromkeys(each.name for each in fitted)
    }


def _add(fitted: Sequence[Goal], missing: Figures, found: Figures, twin: Twin) -> None:
    values = parameters(engine.show(twin.base, twin.settings()))
    for name, more in missing.items():
        key = _KEYS[name]
        value = float(values[key])
        if name == "write_p99_us":
            # A random time has no end, so its part of the percentile is a multiple of it.
            more -= missing.get("write_p50_us", 0.0)
            spread = fmean(
                found[_key(each)] - found[_key(each).replace("p99", "p50")]
                for each in fitted
                if each.name == name
            )
            value *= max(0.1, 1 + more / spread) if spread > 0 else 1.0
        else:
            value = max(0.0, value + more)
        twin.fit(key, value, _told(fitted, name))


def _say_source(fitted: Sequence[Goal], twin: Twin) -> None:
    """Name the figures beside numbers that were right from the start, too."""
    values = parameters(engine.show(twin.base, twin.settings()))
    for name in dict.fromkeys(each.name for each in fitted):
        twin.fit(_KEYS[name], float(values[_KEYS[name]]), _told(fitted, name))


def _told(fitted: Sequence[Goal], name: str) -> str:
    return ", ".join(each.source for each in fitted if each.name == name)
