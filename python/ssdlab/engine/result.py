"""A result: fio's JSON, seen as jobs with figures.

What fio itself measured on a real drive is read just as well; it only lacks our object, so write
amplification, wear and seed are unknown there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ssdlab.engine import latency
from ssdlab.engine.conditions import is_steady
from ssdlab.engine.figures import wrong_figure
from ssdlab.engine.fio_json.reading import FioJson, read_fio_json
from ssdlab.engine.fio_json.version import version_of
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import RESULT_BYTES, InputError, read_text
from ssdlab.ground.recognise import what_the_file_is

if TYPE_CHECKING:
    import pandas

DIRECTIONS = ("read", "write", "trim")
MIXED = "mixed"
"""What fio calls all of them together, with unified_rw_reporting, where it reports nothing else."""


@dataclass(frozen=True)
class Job:
    """One job of a result (one entry of fio's ``jobs``).

    Attributes
    ----------
    data
        The entry itself.
    """

    data: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The job's name."""
        return str(self.data.get("jobname", ""))

    @property
    def lab(self) -> Mapping[str, Any]:
        """Our object; empty where fio wrote the result."""
        found = self.data.get("ssdlab")
        return found if isinstance(found, Mapping) else {}

    @property
    def options(self) -> Mapping[str, str]:
        """The options as they were given."""
        return self.data.get("job options") or {}

    @property
    def directions(self) -> list[str]:
        """Which of read, write and trim the job did; mixed where these are not told apart."""
        apart = [each for each in DIRECTIONS if _did_something(self.direction(each))]
        return apart or [each for each in (MIXED,) if _did_something(self.direction(each))]

    @property
    def commits(self) -> int:
        """How many flushes the job waited for; their latencies are those of direction ``sync``."""
        return int((self.direction("sync").get("lat_ns") or {}).get("N") or 0)

    @property
    def commits_per_s(self) -> float:
        """Flushes a second of the time that the job's requests took."""
        times = [float(self.direction(each).get("runtime") or 0) for each in self.directions]
        return self.commits / max(times, default=0) * 1e3 if max(times, default=0) else 0.0

    def direction(self, name: str) -> Mapping[str, Any]:
        """Return fio's block for ``read``, ``write``, ``trim`` or ``sync``."""
        return self.data.get(name) or {}

    def _blocks(self, direction: str | None) -> list[Mapping[str, Any]]:
        names = [direction] if direction else self.directions
        return [self.direction(name) for name in names]

    def iops(self, direction: str | None = None) -> float:
        """Return requests a second, of one direction or of all.

        Raises
        ------
        SsdlabError
            It is not known, which `known_iops` tells without an error.
        """
        return self._known("iops", "IOPS", direction)

    def bandwidth(self, direction: str | None = None) -> float:
        """Return bytes a second, of one direction or of all.

        Raises
        ------
        SsdlabError
            It is not known, which `known_bandwidth` tells without an error.
        """
        return self._known("bw_bytes", "throughput", direction)

    def known_iops(self, direction: str | None = None) -> float | None:
        """Return requests a second; None where fio's figures do not tell them."""
        return self._sum("iops", direction)

    def known_bandwidth(self, direction: str | None = None) -> float | None:
        """Return bytes a second; None where fio's figures do not tell them."""
        return self._sum("bw_bytes", direction)

    def _sum(self, figure: str, direction: str | None) -> float | None:
        figures = [block.get(figure) for block in self._blocks(direction)]
        known = [float(each) for each in figures if each is not None]
        return sum(known) if known and len(known) == len(figures) else None

    def _known(self, figure: str, what: str, direction: str | None) -> float:
        value = self._sum(figure, direction)
        if value is None and any(map(_did_something, self._blocks(direction))):
            raise SsdlabError(f"job {self.name}: its {what} is not known\nrun it for longer")
        return value or 0.0

    def mean_ns(self, direction: str | None = None) -> float | None:
        """Return the mean latency in nanoseconds."""
        return latency.mean(self._blocks(direction))

    def percentile_ns(self, percent: float, direction: str | None = None) -> float | None:
        """Return a latency percentile in nanoseconds.

        Of a mix it is known only where the histograms were kept (``--output-format json+``).
        """
        blocks = self._blocks(direction)
        return latency.percentile(blocks, percent) if blocks else None

    def distribution(self, direction: str | None = None) -> list[tuple[float, float]]:
        """Return the cumulative distribution of latencies: (nanoseconds, share) points."""
        return latency.distribution(self._blocks(direction))

    @property
    def write_amplification(self) -> float | None:
        """Flash bytes programmed per byte the host wrote; None where nothing was written."""
        value = self.lab.get("write_amplification")
        return None if value is None else float(value)

    @property
    def unit_write_amplification(self) -> float | None:
        """Mapping units programmed per unit that writes touched: what the drive itself adds."""
        value = self.lab.get("unit_write_amplification")
        return None if value is None else float(value)

    @property
    def seed(self) -> int | None:
        """The run's seed; None where fio measured."""
        value = self.lab.get("seed")
        return None if value is None else int(value)

    @property
    def profile(self) -> str | None:
        """The drive's profile; None where fio measured."""
        value = self.lab.get("profile")
        return None if value is None else str(value)

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped early, so that the figures are of a part of the job."""
        return bool(self.lab.get("interrupted"))

    @property
    def condition(self) -> str | None:
        """The condition that the drive was in when the job began."""
        return self._said("condition")

    @property
    def conditioned_by(self) -> str | None:
        """What the drive was written by on its way into the condition, and by jobs since."""
        return self._said("conditioned_by")

    @property
    def not_steady(self) -> str | None:
        """Why the steady condition that was asked for was not reached; None where it was."""
        if not is_steady(self.condition) or self.lab.get("steady_reached") is not False:
            return None
        return self._said("not_steady") or "write amplification still changed"

    @property
    def drift(self) -> Mapping[str, Any]:
        """How the figures of the job's first and last tenth differ; empty where it was short."""
        return self.lab.get("drift") or {}

    @property
    def drifts(self) -> bool:
        """Whether the drive still changed while the job ran."""
        return bool(self.drift.get("changes"))

    @property
    def drift_told(self) -> str | None:
        """The drift in words."""
        return self.drift.get("told")

    def _said(self, key: str) -> str | None:
        value = self.lab.get(key)
        return None if value is None else str(value)


def _did_something(block: Mapping[str, Any]) -> bool:
    return any(block.get(each) for each in ("total_ios", "io_bytes", "iops", "bw_bytes"))


def _checked(data: Mapping[str, Any], where: str) -> Mapping[str, Any]:
    entries = data.get("jobs")
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise SsdlabError(
            f"{where}: no jobs in it, so it is not fio's JSON\n"
            "write results with: ssdlab run … --output-format json --output FILE"
        )
    if (wrong := wrong_figure(data)) is not None:
        raise SsdlabError(
            f"{where}: {wrong}, which is not a figure\nrun it again, or edit the file"
        )
    return data


class Result:
    """What a run gave.

    Parameters
    ----------
    data
        fio's JSON, decoded.
    name
        Where it came from, for tables and messages.

    Attributes
    ----------
    said
        Messages that fio printed beside it.
    failures
        Sentences about jobs that failed, or that passed over errors.
    unread
        What was not understood in it; figures that it decides may be wrong.

    Raises
    ------
    SsdlabError
        It holds no jobs, or something that is no figure in the place of one.
    """

    drawn: ClassVar[Callable[[Result], str] | None] = None
    """Draws a result as HTML for a notebook, once `ssdlab.report.notebook` is loaded."""

    def __init__(self, data: Mapping[str, Any], name: str = "result") -> None:
        self._take(FioJson(version_of(data.get("fio version")), _checked(data, name)), name)

    def _take(self, read: FioJson, name: str) -> None:
        self.name = name
        self.jobs: list[Job] = [Job(entry) for entry in read.content["jobs"]]
        self.said, self.failures, self.unread = read.said, read.failures, read.unread
        self._data = read.content

    @classmethod
    def from_json(cls, document: str, name: str = "result") -> Result:
        """Read a result from text, which fio of any version wrote, or ssdlab.

        Raises
        ------
        SsdlabError
            It is no result, or holds several.
        """
        made = cls.__new__(cls)
        made._take(read_fio_json(document, name), name)
        return made

    @classmethod
    def load(cls, path: str | Path) -> Result:
        """Read a result file."""
        return cls.from_json(document_of(path), str(path))

    def to_dict(self) -> dict[str, Any]:
        """Return fio's JSON as a dictionary (a copy)."""
        copied: dict[str, Any] = json.loads(json.dumps(self._data))
        return copied

    def to_json(self) -> str:
        """Return fio's JSON as text."""
        return json.dumps(self._data, indent=2)

    @property
    def experiment(self) -> Mapping[str, Any]:
        """What an experiment says about its part: ``name``, ``part``, ``label``; else empty."""
        found = self._data.get("ssdlab experiment")
        return found if isinstance(found, Mapping) else {}

    def job(self, name: str | None = None) -> Job:
        """Return the job of that name, or the only one.

        Raises
        ------
        SsdlabError
            There is none, or more than one and no name.
        """
        found = [job for job in self.jobs if name is None or job.name == name]
        if len(found) == 1:
            return found[0]
        names = ", ".join(dict.fromkeys(job.name for job in self.jobs)) or "none"
        wanted = "one job" if name is None else f"one job {name!r}"
        raise SsdlabError(f"{self.name}: {wanted} expected, {len(found)} found; jobs: {names}")

    @property
    def interrupted(self) -> bool:
        """Whether one of the jobs was stopped early."""
        return any(job.interrupted for job in self.jobs)

    @property
    def not_steady(self) -> str | None:
        """Why the drive did not come into the steady condition that was asked for."""
        return next((job.not_steady for job in self.jobs if job.not_steady), None)

    def rows(self) -> list[dict[str, Any]]:
        """Return one plain row per job and direction; times in microseconds."""
        return [_row(job, direction) for job in self.jobs for direction in job.directions]

    def dataframe(self) -> pandas.DataFrame:
        """Return the rows as a pandas DataFrame.

        Raises
        ------
        SsdlabError
            pandas is not installed.
        """
        try:
            import pandas
        except ImportError:
            raise SsdlabError(
                "the DataFrame view needs pandas: pip install pandas, or use .rows()"
            ) from None
        return pandas.DataFrame(self.rows())

    def __repr__(self) -> str:
        """Name the jobs with their main figure."""
        jobs = ", ".join(f"{job.name}: {text.count(job.known_iops())} IOPS" for job in self.jobs)
        warned = "" if self.not_steady is None else f"; NOT STEADY: {self.not_steady}"
        return f"<Result {self.name}: {jobs}{warned}>"

    def _repr_html_(self) -> str | None:
        """Return what a notebook shows; None, which leaves it to ``repr``, where nothing draws."""
        return None if Result.drawn is None else Result.drawn(self)


def document_of(path: str | Path) -> str:
    """Return the text of a result file.

    Raises
    ------
    SsdlabError
        It cannot be read.
    """
    try:
        return read_text(path, RESULT_BYTES)
    except FileNotFoundError:
        raise SsdlabError(f"{path}: cannot be read: No such file or directory") from None
    except InputError as error:
        kind = what_the_file_is(path)
        what = f": {kind.told(str(path))}" if kind else ""
        raise SsdlabError(f"{path}: cannot be read as a result: {error}{what}") from None


def _row(job: Job, direction: str) -> dict[str, Any]:
    def microseconds(value: float | None) -> float | None:
        return None if value is None else value / 1e3

    return {
        "profile": job.profile,
        "condition": job.condition,
        "not_steady": job.not_steady,
        "drifts": job.drifts,
        "seed": job.seed,
        "interrupted": job.interrupted,
        "job": job.name,
        "direction": direction,
        "iops": job.known_iops(direction),
        "bytes_per_second": job.known_bandwidth(direction),
        "mean_us": microseconds(job.mean_ns(direction)),
        "p50_us": microseconds(job.percentile_ns(50, direction)),
        "p99_us": microseconds(job.percentile_ns(99, direction)),
        "p99_9_us": microseconds(job.percentile_ns(99.9, direction)),
        "write_amplification": job.write_amplification,
    }


def merge(documents: Sequence[str]) -> str:
    """Put the jobs of several runs into one object of fio's JSON.

    fio's consumers read one object, so the drives' jobs stand beside each other in ``jobs``; each
    names its drive in ``ssdlab.profile``. A single run is passed on as it is, byte for byte.
    """
    if len(documents) == 1:
        return documents[0]
    decoded = [json.loads(document) for document in documents]
    merged = dict(decoded[0])
    merged["jobs"] = [job for each in decoded for job in each["jobs"]]
    return json.dumps(merged, indent=2)
