"""A small drive to begin a twin with, and another one that is measured as people measure drives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ssdlab import engine
from ssdlab.engine.request import RunRequest
from ssdlab.experiment import runner
from ssdlab.study.profile_file import DEFAULT, document, entry
from ssdlab.study.twin import latency, patterns, slices

CAPACITY = 3 << 29
SMALL: dict[str, Any] = {
    "capacity_bytes": CAPACITY,
    "nand.channels": 2,
    "nand.dies_per_channel": 2,
    "nand.pages_per_block": 128,
    "link.mb_per_s": 900,
    "controller.read_command_us": 8,
    "controller.write_command_us": 5,
    "buffer.bytes": "2 MiB",
    "buffer.join_bytes": "64 KiB",
}
"""Four dies of 200 blocks, with a sixteenth of the PE8110's rates."""
HIDDEN: dict[str, Any] = {
    **SMALL,
    "over_provisioning": 0.18,
    "nand.read_us": 70,
    "nand.program_us": 800,
    "nand.suspend_us": 100,
    "ftl.gc": "cost-benefit",
    "ftl.move_unit_us": 25,
    "controller.write_latency_us": 12,
    "controller.latency_jitter_us": 0.9,
    "buffer.join_bytes": "256 KiB",
}
"""What is to be found out."""
DRIVE_WRITES = 5
RATE = 1000


def profile(numbers: Mapping[str, Any]) -> str:
    """Return the PE8110's profile with other numbers."""

    def entry_of(shown: Mapping[str, Any]) -> str | None:
        if shown["key"] in numbers:
            return entry(numbers[shown["key"]], "assumed", "of a test")
        if shown["source"] == DEFAULT:
            return None
        return entry(shown["value"], shown["kind"], shown["source"])

    return document("Small", "of a test", engine.show("sk-hynix-pe8110-960gb"), entry_of)


def rate(drive: str, pattern: str, drive_writes: float = DRIVE_WRITES) -> float:
    """Return what a drive writes in MiB/s, all of it, from a fill on."""
    request = slices.writes(drive, 1, pattern, drive_writes)
    return slices.rates(runner.run(request, _going_on), 1)["rate"]


def measured(drive: str, predicted: tuple[str, ...] = ()) -> str:
    """Return the table of a drive's figures; the last patterns are to be predicted."""
    fill = RunRequest(drive, flags=("--rw=write", "--bs=128k", "--iodepth=32"), cache=False)
    once = {
        "capacity_bytes": CAPACITY,
        "read_iops": 125_000,
        "read_mb_per_s": 900,
        "fill_mib_per_s": slices.whole_rate(runner.run(fill, _going_on), 1)["rate"],
        "knee_drive_writes": _knee(drive),
    }
    lines = ["figure,value,drive_writes,rate,use"]
    lines += [f"{name},{value:.12g}" for name, value in once.items()]
    for pattern in (patterns.UNIFORM, "never-rewritten 0.4", "zipf-1.0"):
        lines.append(f"{pattern},{rate(drive, pattern):.4g},{DRIVE_WRITES}")
    lines += [f"{each},{rate(drive, each):.4g},{DRIVE_WRITES},,predict" for each in predicted]
    chain = latency.loads(drive, (RATE,))
    (result,) = runner.perform(chain, _going_on)
    for name, value in latency.percentiles(result).items():
        if name != "read_p999":
            lines.append(f"{name}_us,{value:.4g},,{RATE}")
    return "\n".join(lines) + "\n"


def _knee(drive: str) -> float:
    """Return how much is written behind a fill until the rate falls below half of the first."""
    request = slices.writes(drive, 1, patterns.UNIFORM, 0.4)
    done = slices.written(runner.run(request, _going_on)).bytes_done
    fresh = done[1]
    return float(sum(done[: next(i for i, each in enumerate(done) if each < fresh / 2)]) / CAPACITY)


def _going_on(_phase: str, _share: float) -> bool:
    return True
