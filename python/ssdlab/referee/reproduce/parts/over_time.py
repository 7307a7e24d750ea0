"""What a drive does as it fills, and when it is left alone for a while between bursts."""

from __future__ import annotations

from ssdlab.experiment.experiment import Experiment, Value, section, story
from ssdlab.ground import text
from ssdlab.referee.reproduce import judging
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.results import Results

SERVER, CONSUMER = "intel-dc-s3500-80gb", "intel-x25-m-g1-80gb"
FILLS, BUSY, CLEANS = "as it fills", "left as it is between bursts", "cleans up between bursts"
_COMMENTS = "AnandTech, Simulating a Used Drive"
_BURSTS = "bursts"
_PAUSE_S = 2
_CLEANS_AFTER_MS = "100"


def experiments() -> list[Experiment]:
    """Return a drive written from empty to over full, and one in bursts, cleaning up or not."""
    load: dict[str, Value] = {"rw": "randwrite", "bs": "4k", "norandommap": True}
    fills = story(
        section("first tenth", iodepth=32, io_size="10%", **load),
        section("fills", iodepth=32, io_size="100%", **load),
        section("goes on", iodepth=32, io_size="50%", **load),
        section("next tenth", iodepth=32, io_size="10%", **load),
    )
    pauses: dict[str, Value] = {"thinktime": f"{_PAUSE_S}s", "thinktime_blocks": 500}
    bursts = section(_BURSTS, iodepth=8, io_size="40m", **load, **pauses)
    cleans = (("ftl.idle_gc_after_ms", _CLEANS_AFTER_MS),)
    return [
        Experiment(FILLS, SERVER, fills),
        Experiment(BUSY, CONSUMER, bursts, "used"),
        Experiment(CLEANS, CONSUMER, bursts, "used", settings=cleans),
    ]


def _tail_ms(results: Results, name: str) -> float:
    return results.mean(name, _BURSTS, lambda job: job.percentile_ns(99)) / 1e6


def rows(results: Results) -> list[JudgedRow]:
    """Return what holds or does not."""
    first, later = (results.iops(FILLS, job) for job in ("first tenth", "next tenth"))
    means = [results.mean_us(name, _BURSTS) / 1e3 for name in (BUSY, CLEANS)]
    tails = [_tail_ms(results, name) for name in (BUSY, CLEANS)]
    written = [results.write_amplification(name, _BURSTS) for name in (BUSY, CLEANS)]
    return [
        judging.shape(
            "a new drive slows down as it fills",
            "Thomas-Krenn, High Performance Solid State Drives in servers",
            "ch. 1",
            "a new drive's throughput falls while it fills",
            f"random writes: {text.count(first)} IOPS, once full {text.count(later)}",
            later < first * (1 - judging.MECHANISM),
        ),
        judging.shape(
            "cleaning up when idle helps",
            _COMMENTS,
            "comments",
            "a claim",
            f"bursts {_PAUSE_S} s apart: mean {means[0]:.1f} to {means[1]:.1f} ms, at the price of "
            f"wear: write amplification {written[0]:.0f} to {written[1]:.0f}",
            means[1] < means[0],
        ),
        judging.shape(
            "cleaning up when idle makes the drive respond poorly now and then",
            _COMMENTS,
            "comments",
            "a claim",
            f"p99 {tails[0]:.1f} to {tails[1]:.1f} ms",
            tails[1] > tails[0] * (1 + judging.MECHANISM),
            reason=(
                "A burst that comes into a collection waits for a block at most, and those that "
                "come later find more of them free."
            ),
        ),
    ]
