"""A drawn drive: what is set on the profile, and what is made of the figures of its run.

The pool P is given in host data, so over-provisioning = P / exported − 1, counted as what is
collected. A stripe of N pages with one of parity leaves N − 1 for data, and the data sheet's
sequential writes are net of it: tPROG is the profile's · f · (N − 1)/N.

The model moves c pages for each the host writes; drives of other makers move e·c, where e is drawn
with the pattern. With WA = k·(1 + c), k = N/(N − 1), and a time a write of a + b·c, a that of fresh
writes: WA' = k·(1 + e·c) and time' = a + e·b·c. Left out: the map's log in k, less than 1 %.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab import engine
from ssdlab.engine.request import Settings
from ssdlab.engine.shown import parameters, sizes
from ssdlab.experiment.ensemble.draw import Draw
from ssdlab.experiment.ensemble.ranges import Range
from ssdlab.referee.predicted.rows import PRO, PredictedRow

_GIB = 1 << 30
_MIB = 1 << 20
_STRIPE, _PROGRAM = "ftl.parity_stripe_pages", "nand.program_us"
_AS_DRAWN = (
    "ftl.gc",
    "ftl.move_unit_us",
    "ftl.map_log_entry_bytes",
    "buffer.join_bytes",
    _STRIPE,
)


@dataclass(frozen=True)
class Predicted:
    """Write amplification and rate (MiB/s) of one drawn drive."""

    write_amplification: float
    mib_per_s: float


class DrawnValues:
    """The values of one draw on one drive."""

    def __init__(self, drive: str, ranges: Sequence[Range], draw: Draw) -> None:
        self._drive = drive
        self._values = {each.key: each.at(draw[each.key], 1.0) or "" for each in ranges}
        shown = engine.show(drive)
        found = sizes(shown)
        self._exported_bytes, self._page_bytes = found.capacity_bytes, found.flash.page_bytes
        self._profile = parameters(shown)

    def settings(self) -> Settings:
        """Return what differs from the profile."""
        less = self._number("pool_less_gib") if self._drive == PRO else 0.0
        pool_bytes = (self._number("pool_gib") - less) * _GIB
        stripe = self._number(_STRIPE)
        return (
            ("ftl.spare_counts", "collected"),
            ("over_provisioning", f"{pool_bytes / self._exported_bytes - 1:.6f}"),
            # The pool has no bad blocks: it is what takes part in collection.
            ("reliability.factory_bad_share", "0"),
            (_PROGRAM, f"{self._program_us() * (stripe - 1) / stripe:.2f}"),
            *((key, self._values[key]) for key in _AS_DRAWN),
        )

    def corrected(self, row: PredictedRow, amplification: float, mib_per_s: float) -> Predicted:
        """Return figures with as many moves as the drawn maker's drive makes in this pattern."""
        factor = self._copies_factor(row.pattern)
        stripe = self._number(_STRIPE)
        parity = stripe / (stripe - 1)
        copies = max(0.0, amplification / parity - 1)
        fresh_s = _MIB / self._fresh_bytes_per_s()
        moving_s = max(0.0, 1 / mib_per_s - fresh_s)
        return Predicted(
            amplification + parity * (factor - 1) * copies,
            1 / (1 / mib_per_s + (factor - 1) * moving_s),
        )

    def _copies_factor(self, pattern: str) -> float:
        for key in (f"copies.{pattern}", f"copies.{pattern.split()[0]}"):
            if key in self._values:
                return self._number(key)
        raise KeyError(pattern)

    def _fresh_bytes_per_s(self) -> float:
        """Return what all dies program a second, parity left out."""
        dies = int(self._profile["nand.channels"]) * int(self._profile["nand.dies_per_channel"])
        return dies * float(self._page_bytes) / (self._program_us() * 1e-6)

    def _program_us(self) -> float:
        return float(self._profile[_PROGRAM]) * self._number(_PROGRAM)

    def _number(self, key: str) -> float:
        return float(self._values[key])
