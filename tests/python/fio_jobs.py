"""Draws job files of every option that chooses an address or a size, for fio and for ssdlab alike."""

from __future__ import annotations

import random
from dataclasses import dataclass

KIB = 1024


@dataclass(frozen=True)
class Job:
    """One job: its name, and its options as they stand in a job file."""

    name: str
    options: dict[str, str]

    @property
    def text(self) -> str:
        """The job's section of a job file."""
        lines = [f"{key}={value}" if value else key for key, value in self.options.items()]
        return "\n".join([f"[{self.name}]", *lines, f"write_iolog={self.name}.log"])

    def has(self, option: str) -> bool:
        """Whether the job gives an option."""
        return option in self.options


_PATTERNS = (
    "read write trim randread randwrite randtrim rw randrw trimwrite randtrimwrite".split()
)
_SUFFIXES = {"write": ("8k", "-8k"), "read": ("4k", "-4k"), "randread": ("3",), "randwrite": ("8",)}
_SPLITS = ("4k/60:8k/40", "4k/50:8k/:16k", "4k/81:8k/10:16k/7", "512/20:4k/:1536/30", "4k/60:8k/60", "4k/50:6k/50")
_SKEWS = (
    *("zipf:1.2:0.3", "zipf:0.6:0", "pareto:0.2:0.5", "pareto:0.4:0", "normal:10", "normal", "normal:40:0.3"),
    *("zoned:60/10:30/20:10/70", "zoned:50/50:50/", "zoned_abs:60/256k:40/512k"),
)
_SERVICES = ("roundrobin:3", "sequential", "random", "random:4", "zipf:1.2", "pareto:0.3", "normal:20")


def drawn(number: int, seed: int) -> Job:
    """The job of a number, the same for the same seed."""
    draw = random.Random(f"{seed}.{number}")
    pattern = draw.choice(_PATTERNS)
    is_random = pattern.startswith("rand")
    options = {"rw": pattern}
    if pattern in _SUFFIXES and draw.random() < 0.25:
        options["rw"] += ":" + draw.choice(_SUFFIXES[pattern])
    blocks = draw.choice((256, 511, 640, 1000, 1024))
    options |= _sizes(draw, pattern)
    options["size"] = str(blocks * 48 * KIB // 12)
    options |= _amount(draw, blocks)
    if draw.random() < 0.3:
        options["offset"] = str(draw.choice((4, 128, 1024)) * KIB)
    if pattern in ("rw", "randrw") and draw.random() < 0.5:
        options["rwmixread"] = str(draw.choice((10, 70, 90)))
    if is_random:
        options |= _order(draw)
    options |= _places(draw, blocks)
    options["iodepth"] = draw.choice(("1", "2"))
    return Job(f"job{number}", options)


def _sizes(draw: random.Random, pattern: str) -> dict[str, str]:
    kind = draw.random()
    if kind < 0.5:
        return {"bs": draw.choice(("4k", "4k", "8k", "512", "12k"))}
    if kind < 0.7:
        return {"bssplit": draw.choice(_SPLITS)}
    if kind < 0.85:
        return {"bsrange": draw.choice(("4k-16k", "4k-10k", "512-2k"))}
    if kind < 0.9:
        return {"bs": "4k", "ba": draw.choice(("512", "8k"))}
    if kind < 0.95 and not pattern.startswith("rand"):
        return {"bs": "4k,8k,8k"}
    return {"bsrange": "4k-9k", "bs_unaligned": ""}


def _amount(draw: random.Random, blocks: int) -> dict[str, str]:
    kind = draw.randrange(8)
    return [
        {},
        {},
        {"loops": "2"},
        {"loops": "3", "randrepeat": "0"},
        {"io_size": str(blocks * 2 * KIB)},
        {"io_size": str(blocks * 10 * KIB)},
        {"number_ios": str(blocks // 3), "loops": draw.choice(("1", "2"))},
        {"io_size": "50%"},
    ][kind]


def _order(draw: random.Random) -> dict[str, str]:
    kind = draw.random()
    if kind < 0.35:
        return {}
    if kind < 0.5:
        return {"norandommap": ""}
    if kind < 0.75:
        return {"random_distribution": draw.choice(_SKEWS), "norandommap": ""}
    if kind < 0.85:
        return {"percentage_random": draw.choice(("50", "20"))}
    if kind < 0.92:
        return {"random_generator": "lfsr"}
    return {"rw_sequencer": "identical"}


def _places(draw: random.Random, blocks: int) -> dict[str, str]:
    kind = draw.random()
    if kind < 0.75:
        return {}
    if kind < 0.85:
        return {"nrfiles": draw.choice(("3", "4")), "file_service_type": draw.choice(_SERVICES)}
    if kind < 0.92:
        return {"filesize": f"{blocks * 2}k"}
    skip = draw.choice(("0", "64k", "96k"))
    return {"zonemode": "strided", "zonesize": "128k", "zonerange": draw.choice(("128k", "64k")), "zoneskip": skip}
