"""Replays what was measured: patterns on a slice of each drive, latencies on the whole drive.

What a run gave is kept (`kept`), so that an interrupted replay goes on. Left out: what the figures
are judged by (`judge`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from ssdlab.engine import Progress, conditions
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Result
from ssdlab.engine.series import Amplification, Series
from ssdlab.experiment import runner
from ssdlab.experiment.kept import Figures, kept
from ssdlab.experiment.scale import DieSlice, slice_of
from ssdlab.referee.measured import patterns, rows, transient

DEPTH = 512
"""4 threads of 128 requests each."""
_WINDOW = (0.60, 0.99)
_TRANSIENT_DRIVE_WRITES = 0.55
"""So that the last minute of the first half drive write is whole."""
_MIB = 1 << 20
_PROBE_RATE = 10_000
_LATENCY_JOBS = """[global]
bs=4k
iodepth=64
norandommap
rate_process=poisson
time_based
ramp_time=20
runtime=30
filename=/dev/ssd
[load_reads]
rw=randread
rate_iops={reads}
[load_writes]
rw=randwrite
rate_iops={writes}
[probe_reads]
rw=randread
rate_iops=5000
[probe_writes]
rw=randwrite
rate_iops=5000
"""
"""Reads and writes apart: in one job, one would wait for the other's turn and come in bursts."""


@dataclass(frozen=True)
class Replay:
    """A replay of rows.

    Attributes
    ----------
    folder
        Where results are kept.
    parts
        Slices run for 1/parts of a drive.
    share
        Share of the measurement's drive writes that is written; less than 1 to try it out.
    """

    folder: Path
    parts: int
    share: float = 1.0

    def pattern(self, row: rows.MeasuredRow, progress: Progress) -> Figures:
        """Return rate (MiB/s) and write amplification in a pattern."""
        slice_ = slice_of(row.drive, self.parts)
        request = self._writes(slice_, row, row.drive_writes * self.share)
        return kept(
            self.folder,
            f"{row.drive}-{row.pattern}-{self.parts}",
            [request],
            lambda: rates(runner.run(request, progress), self.parts),
        )

    def transient(self, row: rows.MeasuredRow, progress: Progress) -> Figures:
        """Return rates (MiB/s) of the transient of uniform writes: a run of its own.

        A longer run keeps its series in longer intervals than minutes.
        """
        slice_ = slice_of(row.drive, self.parts)
        request = self._writes(slice_, row, _TRANSIENT_DRIVE_WRITES)
        capacity = slice_.capacity_bytes
        fresh = transient.fresh_minutes(rows.transient(row.drive), capacity * self.parts)

        def run() -> Figures:
            series = _series(runner.run(request, progress))
            return transient.figures(transient.minutes(series, self.parts, capacity), fresh)

        return kept(self.folder, f"{row.drive}-transient-{self.parts}", [request], run)

    def _writes(self, slice_: DieSlice, row: rows.MeasuredRow, drive_writes: float) -> RunRequest:
        return RunRequest(
            row.drive,
            settings=slice_.settings,
            condition="filled",
            flags=(
                *("--rw=randwrite", "--bs=4k", "--norandommap"),
                f"--io_size={int(slice_.capacity_bytes * drive_writes)}",
                f"--iodepth={max(1, DEPTH // self.parts)}",
                f"--random_distribution={patterns.distribution(row.pattern, slice_.pages)}",
            ),
            cache=False,
        )

    def latencies(self, drive: str, loads: Sequence[int], progress: Progress) -> list[Figures]:
        """Return percentiles in µs of the probe at each rate, on the whole drive, used steadily."""
        steady = RunRequest(drive, condition=conditions.BY_JOB, cache=False)
        runs = [(f"{load} a second", _latency_request(drive, load)) for load in loads]
        chain = runner.Chain(tuple(runs), steady)

        def run() -> Figures:
            results = runner.perform(chain, progress)
            return {
                f"{load} {key}": value
                for load, result in zip(loads, results, strict=True)
                for key, value in percentiles(result).items()
            }

        name = "-".join([drive, *(str(load) for load in loads)])
        flat = kept(self.folder, name, [request for _, request in runs], run)
        return [
            {key.split()[1]: value for key, value in flat.items() if key.split()[0] == str(load)}
            for load in loads
        ]


def _latency_request(drive: str, load: int) -> RunRequest:
    of_load = load - _PROBE_RATE // 2
    reads = max(1, round(of_load * 0.01))
    job = _LATENCY_JOBS.format(reads=reads, writes=of_load - reads)
    return RunRequest(drive, job_text=job, json_plus=True)


def rates(result: Result, parts: int) -> Figures:
    """Return what a slice's run says of the whole drive."""
    series = _series(result)
    step = series.times_s[1] - series.times_s[0]
    every = [done / step / _MIB * parts for done in series.bytes_done]
    first, last = (int(len(every) * edge) for edge in _WINDOW)
    amplification = Amplification.of(result.jobs[0].lab)
    assert amplification is not None, "and of its drive"
    factors = [factor for factor in amplification.factors[first:last] if factor is not None]
    return {
        "rate": median(every[first:last]),
        "write_amplification": median(factors),
    }


def _series(result: Result) -> Series:
    series = Series.of(result.jobs[0].lab, direction="write")
    assert series is not None, "the engine keeps the series of every job"
    return series


def percentiles(result: Result) -> Figures:
    """Return percentiles of the probe in µs."""
    asked = (("read", 50), ("read", 99), ("read", 99.9), ("write", 50), ("write", 99))
    figures = {}
    for direction, percent in asked:
        found = result.job(f"probe_{direction}s").percentile_ns(percent, direction)
        assert found is not None, "the probe reads and writes"
        figures[f"{direction}_p{percent}".replace(".", "")] = found / 1e3
    return figures
