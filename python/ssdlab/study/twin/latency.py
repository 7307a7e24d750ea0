"""Latency of a probe beside writes at a fixed rate, on a drive that is used steadily.

A probe of 10 000 requests a second, half of them reads, runs beside a load of which 99 % are
writes; both come at random times (Poisson). The load's rate is named as the measurements name it:
with half of the probe, which is no larger than it. On 1/N of the dies all rates are 1/N, and link
and controller stay as fast.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ssdlab.engine import conditions
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.engine.result import Result
from ssdlab.experiment.kept import Figures
from ssdlab.experiment.runner import Chain

_MOST_PROBE_RATE = 10_000
_JOBS = """[global]
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
rate_iops={probe}
[probe_writes]
rw=randwrite
rate_iops={probe}
"""
"""Reads and writes apart: in one job, one would wait for the other's turn and come in bursts."""
_PERCENTILES = (("read", 50), ("read", 99), ("read", 99.9), ("write", 50), ("write", 99))


def loads(drive: str, rates: Sequence[int], given: Settings = (), parts: int = 1) -> Chain:
    """Return the probe beside each rate, on a drive (or 1/parts of its dies) in its steady state.

    Parameters
    ----------
    rates
        Requests a second of the whole drive.
    given
        What differs from the profile, on the whole drive.
    """
    scale = None if parts == 1 else f"dies:{parts},whole-link"
    steady = RunRequest(drive, given, scale=scale, condition=conditions.BY_JOB, cache=False)
    runs = ((f"{rate} a second", _request(steady, rate, parts)) for rate in rates)
    return Chain(tuple(runs), steady)


def _request(steady: RunRequest, rate: int, parts: int) -> RunRequest:
    probe = min(_MOST_PROBE_RATE, rate) // 2
    reads = max(1, round((rate - probe) * 0.01))
    writes = rate - probe - reads
    each = {"reads": reads, "writes": writes, "probe": probe}
    job = _JOBS.format(**{name: max(1, number // parts) for name, number in each.items()})
    return replace(steady, condition=None, cache=True, job_text=job, json_plus=True)


def percentiles(result: Result) -> Figures:
    """Return percentiles of the probe in µs."""
    figures = {}
    for direction, percent in _PERCENTILES:
        found = result.job(f"probe_{direction}s").percentile_ns(percent, direction)
        assert found is not None, "the probe reads and writes"
        figures[f"{direction}_p{percent}".replace(".", "")] = found / 1e3
    return figures
