"""What a long test of a drive gave: a table with a line for each figure.

    figure,value,drive_writes,rate,use
    capacity_bytes,960197124096
    read_iops,900000
    read_mb_per_s,6500
    fresh_mib_per_s,1703
    knee_drive_writes,0.1328
    uniform,326.5,4.99
    never-rewritten 0.4,306,6.99
    read_p50_us,56,,10000

A figure is one of the data sheet's, of the first drive write after a sequential fill, a pattern's
steady rate in MiB/s (`patterns`), or a latency beside writes at a rate (`latency`). Optional are
`drive_writes`, what was written of a pattern in all (5 where it is empty); `rate`, in requests a
second, which a latency needs; and `use`: ``fit`` or ``predict``. Without it the recipe uses uniform
writes, the never-rewritten share nearest to 0.4, the strongest zipf from 0.9, and the two lowest
rates of each 99th percentile, the lowest of each median; it predicts the rest. Left out: spreads,
for a recipe has no use of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ssdlab.ground.csv_table import number, rows
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.twin import patterns

ONCE = (
    "capacity_bytes",
    "read_iops",
    "read_mb_per_s",
    "fill_mib_per_s",
    "fresh_mib_per_s",
    "knee_drive_writes",
)
"""Of the data sheet, and of the first drive write after a fill."""
LATENCIES = ("read_p50_us", "read_p99_us", "write_p50_us", "write_p99_us")
_KINDS = ("uniform", "zipf-THETA", "two-zone SPACE/WRITES", "never-rewritten SHARE")
_NEEDED, _OPTIONAL = ("figure", "value"), ("drive_writes", "rate", "use")
_USES = ("", "fit", "predict")
_DRIVE_WRITES = 5.0
_POLICY_SHARE = 0.4
_STRONG_ZIPF = 0.9
_RATES_FITTED = {"p50": 1, "p99": 2}
"""So many of the lowest rates: the median at the lowest is nearest to that of a drive at rest."""


@dataclass(frozen=True)
class Goal:
    """A figure that was measured.

    Attributes
    ----------
    name
        Of `ONCE` or `LATENCIES`, or a pattern.
    value
        In the unit of its name; MiB/s of a pattern.
    place
        Where it was read.
    drive_writes
        Written of a pattern in all.
    rate
        Requests a second beside which a latency was measured; 0 of other figures.
    use
        ``fit``, ``predict``, or nothing.
    """

    name: str
    value: float
    place: str
    drive_writes: float = _DRIVE_WRITES
    rate: int = 0
    use: str = ""

    @property
    def source(self) -> str:
        """Say what it is and where it was read, for a profile."""
        return f"{self.label} {self.value:.12g} ({Path(self.place).name})"

    @property
    def label(self) -> str:
        """Name it for people."""
        return f"{self.name} at {self.rate:,} a second" if self.rate else self.name


@dataclass(frozen=True)
class Goals:
    """All figures of a drive, by what the recipe does with them.

    Attributes
    ----------
    once
        By name (`ONCE`).
    uniform
        Steady uniform writes.
    policy, join
        The patterns that choose the victim policy and how far the write buffer joins, if any.
    latencies
        Fitted ones, at one or two rates.
    predicted
        The rest, patterns and latencies.
    """

    once: Mapping[str, Goal]
    uniform: Goal
    policy: Goal | None
    join: Goal | None
    latencies: Sequence[Goal]
    predicted: Sequence[Goal]

    def value(self, name: str) -> float | None:
        """Return a figure of `ONCE`; None where it was not measured."""
        found = self.once.get(name)
        return None if found is None else found.value


def read_goals(path: Path) -> Goals:
    """Read a table.

    Raises
    ------
    SsdlabError
        Something in it is wrong or missing; file, line and value are named.
    """
    found = [_target(place, row) for place, row in rows(path, _NEEDED, _OPTIONAL, "figures")]
    seen: dict[tuple[str, int], Goal] = {}
    for each in found:
        first = seen.setdefault((each.name, each.rate), each)
        if first is not each:
            raise SsdlabError(
                f"{each.place}: {each.label}: stands at {first.place} already\nleave one out"
            )
    return sorted_out(str(path), found)


def asked(pattern: str) -> Goal:
    """Return a pattern that is to be predicted without having been measured.

    Raises
    ------
    SsdlabError
        There is none of that name.
    """
    if not _is_pattern(pattern):
        raise SsdlabError(
            f"--predict {pattern}: there is no such pattern\ngive one of {', '.join(_KINDS)}"
        )
    return Goal(pattern, 1.0, "--predict")


def sorted_out(where: str, found: Sequence[Goal]) -> Goals:
    """Say what each figure is used for.

    Raises
    ------
    SsdlabError
        One that the recipe cannot do without is missing.
    """
    once = {each.name: each for each in found if each.name in ONCE}
    by_pattern = [each for each in found if each.name not in (*ONCE, *LATENCIES)]
    uniform = [each for each in by_pattern if each.name == patterns.UNIFORM]
    missing = [] if uniform else [patterns.UNIFORM]
    missing += [] if "knee_drive_writes" in once else ["knee_drive_writes"]
    if not {"fill_mib_per_s", "fresh_mib_per_s"} & set(once):
        missing.append("fresh_mib_per_s")
    if missing:
        raise SsdlabError(
            f"{where}: no line of {missing[0]}\nthe recipe needs the rate of a fresh drive "
            "(fresh_mib_per_s), the knee (knee_drive_writes), and steady uniform writes (uniform)"
        )
    policy = _chosen(by_pattern, "never-rewritten ", lambda share: abs(share - _POLICY_SHARE))
    join = _chosen(by_pattern, "zipf-", lambda theta: -theta, _STRONG_ZIPF)
    fitted = list(_fitted(found))
    used = [*uniform, policy, join, *fitted]
    rest = [each for each in found if each.name not in ONCE and each not in used]
    unused = [each for each in rest if each.use == "fit"]
    if unused:
        raise SsdlabError(
            f"{unused[0].place}: {unused[0].label}: the recipe has no use of it\n"
            "write predict, or leave the use empty"
        )
    return Goals(once, uniform[0], policy, join, fitted, rest)


def _target(place: str, row: Mapping[str, str]) -> Goal:
    name = row["figure"]
    if name not in (*ONCE, *LATENCIES) and not _is_pattern(name):
        raise SsdlabError(
            f"{place}: figure {name or '(empty)'}: there is none of that name\n"
            f"give one of {', '.join((*ONCE, *_KINDS, *LATENCIES))}"
        )
    if row["use"] not in _USES:
        raise SsdlabError(f"{place}: use {row['use']}: must be fit or predict, or empty")
    if bool(row["rate"]) != (name in LATENCIES):
        raise SsdlabError(
            f"{place}: {name}: rate {row['rate'] or '(empty)'}: a latency has one, and no other "
            "figure\nwrite the requests a second that ran beside it, such as 10000"
        )
    if row["use"] == "predict" and name in (*ONCE, patterns.UNIFORM):
        raise SsdlabError(
            f"{place}: {name}: use predict: the recipe starts from it\nleave the use empty"
        )
    found = Goal(name, number(place, "value", row["value"]), place, use=row["use"])
    if row["rate"]:
        rate = number(place, "rate", row["rate"])
        if not rate.is_integer():
            raise SsdlabError(f"{place}: rate {row['rate']}: write a whole number\nsuch as 10000")
        found = replace(found, rate=int(rate))
    if row["drive_writes"]:
        if name in (*ONCE, *LATENCIES):
            raise SsdlabError(
                f"{place}: {name}: drive_writes {row['drive_writes']}: a pattern has them, and no "
                "other figure\nleave them empty"
            )
        written = number(place, "drive_writes", row["drive_writes"])
        found = replace(found, drive_writes=written)
    return found


def _is_pattern(name: str) -> bool:
    try:
        patterns.distribution(name, 1)
    except ValueError:
        return False
    return True


def _chosen(
    found: Sequence[Goal], kind: str, key: Callable[[float], float], least: float = 0.0
) -> Goal | None:
    """Return the pattern of a kind that is to be fitted to, or is the best one for it."""
    parameters = {
        each: float(each.name.removeprefix(kind)) for each in found if each.name.startswith(kind)
    }
    wanted = [each for each in parameters if each.use == "fit"]
    free = [each for each, value in parameters.items() if not each.use and value >= least]
    return min(wanted or free, key=lambda each: key(parameters[each]), default=None)


def _fitted(found: Sequence[Goal]) -> Iterator[Goal]:
    """Give the latencies that are fitted to."""
    for name in LATENCIES:
        same = [each for each in found if each.name == name and each.use != "predict"]
        wanted = [each for each in same if each.use == "fit"]
        most = _RATES_FITTED[name.split("_")[1]]
        yield from wanted or sorted(same, key=lambda each: each.rate)[:most]
