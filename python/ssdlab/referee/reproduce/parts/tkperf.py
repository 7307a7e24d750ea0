"""TKperf's procedure, with which the e-book measured its drives and arrays.

From TKperf's source (github.com/thomas-krenn/TKperf, DeviceTests.py, Devices.py, StdyState.py; what
`examples/` call) and its e-book, p. 17: two jobs with 16 requests each. IOPS is SNIA's test, which
the code of `ssdlab pts` carries out: the array is written twice in sequence; then come rounds of
seven mixes in eight sizes, a minute each, until 4 KiB writes of five rounds in a row are steady, of
which the mean is shown. Throughput: rounds of a minute's reading and a minute's writing in
sequence, by size. In a quick run one round is the window. Latency is SNIA's too: one request at a
time, in three mixes and three sizes, until 4 KiB writes are steady, quickly as well: after the
sequential fill the first rounds have no collection to wait for.

Version 2.0 (June 2015) makes a controller's array with `storcli add vd … wt nora` and no word on
the strip, which the option `strip=` came to only in February 2017. So the controller's default
holds, 64 KiB (MegaRAID Storage Manager 17.05, help); arrays by software have md's own chunk.

On a smaller drive the minute is shorter by as much, so that each load writes the same share of it,
and for IOPS and latency the controller's cache is smaller by as much, so that it holds the same
share. Drives for latency are as large as the scale allows: its means differ from those of drives of
full size by 3 % at most, on small ones by up to 16 % (`docs/explanation/validation.md`). For
throughput each member is filled once by itself; an array that is filled as a whole comes into
another state, in which the size of the drives decides. In sequence one job keeps all 32 requests:
two that begin at one place in one instant would overwrite each other in the drive's buffer, which
threads of a real host, one a little later, hardly do.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import fmean

from ssdlab.bench import book
from ssdlab.bench.plan import Part
from ssdlab.bench.shorter import shorter_part
from ssdlab.experiment.experiment import Value, section, story
from ssdlab.experiment.scale import Scale
from ssdlab.referee.reproduce.results import Results

STRIP = "64KiB"
"""What a controller's array keeps together on one member: MegaRAID's default."""
_BLOCKS_A_DIE, _QUICK_BLOCKS_A_DIE = 96, 32
"""Size of the drives; each load takes its share of them."""
_ROUNDS, _QUICK_ROUNDS = 5, 1
"""The window of IOPS and throughput: TKperf's, quickly one round."""
_MINUTE_S = 60.0
CACHE_KIB, LINE_KIB = 2**20, 64
"""The controller's cache, 1 GiB (LSI MegaRAID SAS 9361-8i), and its lines."""
_SHOWN_BYTES = 4096
_JOBS, _DEPTH = 2, 16
_STREAMS = ("1024k", "64k", "8k")
MIXES = {"reads": 100, "65/35": 65, "writes": 0}
"""The mixes of the latency test, by their share of reads in percent."""


def iops_experiment(array: str) -> str:
    """Return what the experiment of an array's IOPS is called."""
    return f"{array}, IOPS"


def rate_experiment(array: str) -> str:
    """Return what the experiment of an array's throughput is called."""
    return f"{array}, throughput"


def latency_experiment(array: str) -> str:
    """Return what the experiment of an array's latency is called."""
    return f"{array}, latency"


def _rounds(scale: Scale) -> int:
    return _ROUNDS if len(scale.seeds) > 1 else _QUICK_ROUNDS


def blocks_a_die(scale: Scale) -> int:
    """Return how large the drives are."""
    return _BLOCKS_A_DIE if len(scale.seeds) > 1 else _QUICK_BLOCKS_A_DIE


def for_rates(scale: Scale) -> Scale:
    """Return the scale of IOPS and throughput; latency has the one that was asked for."""
    return scale.at_most(blocks_a_die(scale))


def _seconds(scale: Scale, drive: str) -> float:
    return _MINUTE_S * for_rates(scale).share(drive)


def cache_lines(scale: Scale, drive: str) -> int:
    """Return how many lines the controller's cache has for drives of just this scale."""
    return round(CACHE_KIB * scale.share(drive) / LINE_KIB)


def cache(scale: Scale, drive: str) -> str:
    """Return the controller's cache for drives of just this scale, as a layer's option."""
    return f"cache_bytes={cache_lines(scale, drive) * LINE_KIB}KiB"


def _section(name: str, seconds: float, **options: Value) -> str:
    return section(name, time_based=True, runtime=f"{seconds * 1e3:.0f}ms", **options)


def iops_part(scale: Scale, drive: str) -> Part:
    """Return the IOPS test for a drive of this scale, or an array of such."""
    (test,) = book.plan(["iops"], _JOBS, _DEPTH, 1, False, 512).tests
    (part,) = test.parts
    part = shorter_part(part, _seconds(scale, drive))
    return replace(part, stop=replace(part.stop, window=_rounds(scale)))


def latency_part(scale: Scale, drive: str) -> Part:
    """Return the latency test for a drive of just this scale, or an array of such."""
    (test,) = book.plan(["lat"], 1, 1, 1, False, 512).tests
    (part,) = test.parts
    return shorter_part(part, _MINUTE_S * scale.share(drive))


def rate_job(scale: Scale, drive: str) -> str:
    """Return rounds of reading and writing in sequence, by size."""
    seconds = _seconds(scale, drive)
    return story(
        *(
            _section(_stream(size, way, number), seconds, rw=way, bs=size, iodepth=32)
            for size in _STREAMS
            for number in range(_rounds(scale))
            for way in ("read", "write")
        )
    )


def _stream(size: str, way: str, number: int) -> str:
    return f"round {number + 1}, {way} of {size}"


def iops(results: Results, array: str, reads_percent: int) -> float:
    """Return requests of 4 KiB a second, as TKperf shows them."""
    return _mean(results, iops_experiment(array), reads_percent, "iops")


def mean_us(results: Results, array: str, mix: str) -> float:
    """Return the mean response time of 4 KiB, one request at a time, in microseconds."""
    return _mean(results, latency_experiment(array), MIXES[mix], "mean_ns") / 1e3


def _mean(results: Results, experiment: str, reads_percent: int, figure: str) -> float:
    wanted = (reads_percent, _SHOWN_BYTES)
    return fmean(
        cell["both"][figure]
        for found in results.specified[experiment]
        for cell in found["part"]["cells"]
        if (cell["load"]["read_percent"], cell["load"]["block_bytes"]) == wanted
    )


def mb_per_s(results: Results, array: str, way: str, size: str) -> float:
    """Return MB/s of reading or writing in sequence, the mean of the rounds."""
    label = _stream(size, way, 0).partition(", ")[2]
    return (
        fmean(
            job.bandwidth()
            for result in results.of[rate_experiment(array)]
            for job in result.jobs
            if job.name.endswith(f", {label}")
        )
        / 1e6
    )
