"""What a drive said before: a small file of readings, and from it when it will be worn out.

One JSON object a line and drive: time, life used, bytes written, error counts. The wear-out date
is where the least-squares line of life used over time reaches 100 %, with the 95 % confidence
interval of that time (Fieller's interval of the inverse prediction, the errors taken as normal).
Life is told in whole percent. Readings between two steps say nothing new, so the line goes through
the first reading of each step and the last of all; and as nobody says whether a drive rounds up or
down, the interval is one percent of life wider on either side.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ssdlab.ground import foreign, json_once
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import InputError, read_bytes
from ssdlab.ground.output import PendingFile
from ssdlab.real.smart.life import Life
from ssdlab.real.smart.report import DriveReport

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

_READINGS_AT_MOST = 400
_BEGIN = '{"drive": '
_NUMBERS = ("time_s", "used_percent", "host_written_bytes")
_CONFIDENCE = 0.95
_DAY_S = 86_400
_MOST = 1e30
_ROUNDING_VARIANCE = 1 / 12
"""Of a percentage told as a whole number."""
_STEP_PERCENT = 1


@dataclass(frozen=True)
class Reading:
    """What one drive said at one time.

    Attributes
    ----------
    drive
        Model and serial, or the device.
    time_s
        Seconds since 1970.
    used_percent, host_written_bytes
        As in `Life`.
    address
        How smartctl reached it then; empty where it was not noted.
    """

    drive: str
    time_s: float
    used_percent: float | None
    host_written_bytes: float | None
    address: str = ""

    @staticmethod
    def of(report: DriveReport, life: Life, time_s: float) -> Reading:
        """Make a reading of a report."""
        used, host = life.used_percent, life.host_written_bytes
        return Reading(
            report.identity,
            time_s,
            _within(used.number if used else None),
            _within(host.number if host else None),
            report.address,
        )


@dataclass(frozen=True)
class WearOut:
    """When the rated life will be used up, going on as so far.

    Attributes
    ----------
    time_s, earliest_s, latest_s
        Seconds since 1970; the latest is None where the readings do not rule out never.
    percent_per_year
        The slope.
    readings
        How many it is drawn from.
    """

    time_s: float
    earliest_s: float
    latest_s: float | None
    percent_per_year: float
    readings: int


def read_history(path: str | Path) -> list[Reading]:
    """Read a history file; one that is not there is empty, a last line cut short is left out.

    Raises
    ------
    SsdlabError
        It is there and cannot be read, or is no history: it would be written over.
    """
    try:
        content = read_bytes(path).decode("utf-8", errors="replace")
    except FileNotFoundError:
        return []
    except InputError as error:
        raise SsdlabError(f"--history {path}: {error}") from None
    readings, lines = [], content.splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            readings.append(_parse(line))
        except (ValueError, RecursionError) as error:
            if number == len(lines) and _is_cut(line):
                continue
            is_json = isinstance(error, (_NotUnderstood, json_once.KeyTwiceError))
            why = str(error) if is_json else "it is not JSON"
            raise SsdlabError(
                f"--history {path}: line {number} is no reading of ssdlab health: {why}; the file "
                f"is {foreign.of_text(content)}\nit is left as it is; give a file of its own"
            ) from None
    return readings


class _NotUnderstood(ValueError):
    """A line is JSON, and not what `write_history` writes."""


def _is_cut(line: str) -> bool:
    """Whether a line may be the beginning of a reading."""
    return not line.endswith("\n") and (line.startswith(_BEGIN) or _BEGIN.startswith(line))


def _parse(line: str) -> Reading:
    entry = json_once.loads(line)
    if not isinstance(entry, dict):
        raise _NotUnderstood("it is no object")
    drive, address = entry.pop("drive", None), entry.pop("address", "")
    numbers = {key: _finite(key, entry.pop(key, None)) for key in _NUMBERS}
    time_s = numbers.pop("time_s")
    for key, value in entry.items():
        raise _NotUnderstood(f"{key}: {json.dumps(value)} is not known")
    if not isinstance(drive, str) or not isinstance(address, str) or time_s is None:
        raise _NotUnderstood("drive and address are texts, and time_s is a number")
    return Reading(drive, time_s, address=address, **numbers)


def _within(number: float | None) -> float | None:
    """Leave out what no drive can be told of, so that a file holds nothing else."""
    return number if number is not None and abs(number) < _MOST else None


def _finite(key: str, value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < _MOST:
        raise _NotUnderstood(f"{key}: {json.dumps(value)} is no number")
    return float(value)


def write_history(path: str | Path, readings: Iterable[Reading]) -> None:
    """Write a history file in one step; of every drive the latest readings are kept."""
    kept: dict[str, list[Reading]] = {}
    for reading in readings:
        kept.setdefault(reading.drive, []).append(reading)
    lines = [
        json.dumps(vars(reading))
        for drive in kept.values()
        for reading in sorted(drive, key=lambda reading: reading.time_s)[-_READINGS_AT_MOST:]
    ]
    with PendingFile(path, "--history") as pending:
        pending.write("\n".join(lines) + "\n")


def vanished(
    readings: Iterable[Reading],
    present: Iterable[str],
    silent: Collection[str] = (),
    named: Collection[str] = (),
) -> list[str]:
    """Name the drives that were there before and are not now.

    Parameters
    ----------
    readings
        Of all drives, earlier ones before later ones.
    present
        Drives that told who they are.
    silent
        Addresses that did not say who is there: a drive that was last seen at one of them, or
        nobody knows where, may still be there.
    named
        Addresses that were asked, where not all were: drives at others are not missed.
    """
    last_seen = {reading.drive: reading.address for reading in readings}
    missing = {drive: address for drive, address in last_seen.items() if drive not in set(present)}
    return sorted(
        drive
        for drive, address in missing.items()
        if not (silent and (not address or address in silent)) and (not named or address in named)
    )


def wear_out(readings: Iterable[Reading]) -> WearOut | None:
    """Draw the line through a drive's readings to the end of its life.

    Parameters
    ----------
    readings
        Of one drive.

    Returns
    -------
    WearOut or None
        None with fewer than three such points, or where life does not get less.
    """
    points = sorted(
        {
            (reading.time_s, reading.used_percent)
            for reading in readings
            if reading.used_percent is not None
        }
    )
    steps = _steps(points)
    if len(steps) < 3 or steps[-1][0] == steps[0][0]:
        return None
    # Here, because they take longer to load than the command itself, and the audit does without.
    import numpy
    from scipy import stats

    times = numpy.array([time for time, _ in steps]) / _DAY_S
    used = numpy.array([percent for _, percent in steps], dtype=float)
    line = stats.linregress(times, used)
    if not line.slope > 0:
        return None
    middle, level = float(times.mean()), float(used.mean())
    half_widths = _interval(times, used, float(line.slope), float(line.intercept), 100 - level)
    at = middle + (100 - level) / float(line.slope)
    whole = all(percent.is_integer() for percent in used)
    rounding = (_STEP_PERCENT if whole else 0) / float(line.slope)
    latest = middle + half_widths[1] + rounding
    return WearOut(
        time_s=at * _DAY_S,
        earliest_s=(middle + half_widths[0] - rounding) * _DAY_S,
        latest_s=None if math.isinf(latest) else latest * _DAY_S,
        percent_per_year=float(line.slope) * 365.25,
        readings=len(points),
    )


def _steps(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Keep the first reading of each step, and the last of all."""
    kept = [
        point
        for before, point in zip([None, *points], points, strict=False)
        if before is None or before[1] != point[1]
    ]
    return kept if not points or kept[-1] == points[-1] else [*kept, points[-1]]


def _interval(
    times: NDArray[numpy.float64],
    used: NDArray[numpy.float64],
    slope: float,
    intercept: float,
    rise: float,
) -> tuple[float, float]:
    """Bound (rise / slope) by Fieller's theorem; in days from the readings' mean time."""
    import numpy
    from scipy import stats

    count = len(times)
    residual = float(numpy.sum((used - intercept - slope * times) ** 2))
    variance = max(residual / (count - 2), _ROUNDING_VARIANCE)
    quantile = float(stats.t.ppf((1 + _CONFIDENCE) / 2, count - 2))
    spread = float(numpy.sum((times - times.mean()) ** 2))
    uncertain = quantile**2 * variance
    # Solve (slope x - rise)^2 <= uncertain (1/count + x^2 / spread) for x.
    square = slope**2 - uncertain / spread
    root = uncertain * (square / count + rise**2 / spread)
    if square <= 0:
        return rise / (slope + math.sqrt(uncertain / spread)), math.inf
    half = math.sqrt(max(root, 0.0))
    return (slope * rise - half) / square, (slope * rise + half) / square
