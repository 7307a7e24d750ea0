"""Drawn jobs of every option that chooses an address or a size, for fio and for ssdlab alike."""

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
    def section(self) -> str:
        """The job's section of a job file."""
        lines = [f"{key}={value}" if value else key for key, value in self.options.items()]
        return "\n".join([f"[{self.name}]", *lines])

    def has(self, option: str) -> bool:
        """Whether the job gives an option."""
        return option in self.options


_PATTERNS = "read write trim randread randwrite randtrim rw randrw trimwrite randtrimwrite".split()
_SPLITS = (
    "4k/60:8k/40",
    "4k/50:8k/:16k",
    "4k/81:8k/10:16k/7",
    "512/20:4k/:1536/30",
    "4k/60:8k/60",
    "4k/50:6k/50",
)
_SKEWS = (
    *(
        "zipf:1.2:0.3",
        "zipf:0.6:0",
        "pareto:0.2:0.5",
        "pareto:0.4:0",
        "normal:10",
        "normal",
        "normal:40:0.3",
    ),
    *("zoned:60/10:30/20:10/70", "zoned:50/50:50/", "zoned_abs:60/32k:40/64k"),
)
_SERVICES = (
    "roundrobin:3",
    "sequential",
    "random",
    "random:4",
    "zipf:1.2",
    "pareto:0.3",
    "normal:20",
)


def drawn(number: int, seed: int) -> Job:
    """Draw the job of a number, the same for the same seed."""
    draw = random.Random(f"{seed}.{number}")
    pattern = draw.choice(_PATTERNS)
    options = {"rw": pattern}
    # Whole blocks of every size that is drawn.
    blocks = draw.choice((96, 156, 252, 324))
    options |= _sizes(draw, pattern)
    options["size"] = str(blocks * 4 * KIB)
    options |= _amount(draw, blocks)
    if "trimwrite" in pattern and "number_ios" in options:
        # fio 3.33 doubles it in each loop.
        options.pop("loops", None)
    # With an offset fio 3.33 goes astray in a randtrimwrite.
    if pattern != "randtrimwrite" and draw.random() < 0.3:
        options["offset"] = str(draw.choice((4, 128, 1024)) * KIB)
    if pattern in ("rw", "randrw") and draw.random() < 0.5:
        options["rwmixread"] = str(draw.choice((10, 70, 90)))
    place = draw.random()
    if place < 0.2 and "trimwrite" not in pattern:
        options |= {"nrfiles": draw.choice(("3", "4")), "file_service_type": draw.choice(_SERVICES)}
    elif place < 0.3:
        region = blocks * draw.choice((2, 4, 6)) * KIB
        options["filesize"] = str(region + int(options.get("offset", "0")))
    options |= _order(draw, pattern, "ba" in options, "filesize" in options)
    options["iodepth"] = draw.choice(("1", "2"))
    return Job(f"job{number}", options)


def _sizes(draw: random.Random, pattern: str) -> dict[str, str]:
    kind = draw.random()
    if kind < 0.55:
        return {"bs": draw.choice(("4k", "4k", "8k", "512", "12k"))}
    if kind < 0.75:
        return {"bssplit": draw.choice(_SPLITS)}
    if kind < 0.9:
        return {"bsrange": draw.choice(("4k-16k", "4k-10k", "512-2k"))}
    if kind < 0.95 and not pattern.startswith("rand"):
        return {"bs": "4k,8k,8k"}
    return {"bs": "4k", "ba": draw.choice(("512", "8k"))}


def _amount(draw: random.Random, blocks: int) -> dict[str, str]:
    """How much: by loops, bytes or requests."""
    amounts: tuple[dict[str, str], ...] = (
        {},
        {},
        {"loops": "2"},
        {"loops": "3", "randrepeat": "0", "randseed": "11"},
        {"loops": "2", "randseed": "7"},
        {"io_size": str(blocks * 2 * KIB)},
        {"io_size": str(blocks * 10 * KIB)},
        {"io_size": str(blocks * 6 * KIB), "loops": "2"},
        {"number_ios": str(blocks // 3), "loops": draw.choice(("1", "2"))},
        {"io_size": "50%"},
    )
    return draw.choice(amounts)


def _order(draw: random.Random, pattern: str, is_aligned: bool, has_file: bool) -> dict[str, str]:
    """Where requests go, beside the pattern."""
    if not pattern.startswith("rand"):
        return {}
    orders: tuple[dict[str, str], ...] = (
        {},
        {},
        {},
        {"norandommap": ""},
        {"random_distribution": draw.choice(_SKEWS)},
        {"random_distribution": draw.choice(_SKEWS)},
        {"percentage_random": draw.choice(("50", "20"))},
        {"random_generator": "lfsr"},
        {"rw": f"{pattern}:8"},
        {"rw": f"{pattern}:3", "rw_sequencer": "identical"},
    )
    order = draw.choice(orders)
    # fio 3.33 takes steps of an alignment of its own for blocks of a skew and of an LFSR.
    unfit: tuple[str, ...] = ("random_distribution", "random_generator") if is_aligned else ()
    # A trim and its write are a run, too.
    unfit += ("rw", "percentage_random") if pattern == "randtrimwrite" else ()
    # A run that meets the end of the file ends the pass, but not where the target ends there.
    unfit += ("rw", "percentage_random") if has_file else ()
    return {} if any(option in order for option in unfit) else order


_ZONES = {"zonemode": "strided", "zonesize": "64k", "zonerange": "256k", "zoneskip": "64k"}
_BY_ORDER = {"bs": "16k,4k", "bs_is_seq_rand": "1", "norandommap": "", "size": "2m"}
_AT_THE_END = {"size": "2m", "offset": str(62 << 20)}
"""Where the drive ends, too, a run that meets the end does not end the pass."""
_OPTIONS: tuple[dict[str, str], ...] = (
    *({"rw": rw, "size": "4m", "bs": "4k", **_ZONES} for rw in ("write", "randread", "rw")),
    {"rw": "randwrite", "size": "4m", "bs": "4k", "norandommap": "", **_ZONES},
    {"rw": "write", "size": "4m", "bs": "4k", **_ZONES, "zoneskip": "0"},
    {"rw": "write", "size": "4m", "bs": "4k", "zonemode": "strided", "zonesize": "64k"},
    {"rw": "write", "size": "4m", "bs": "4k", **_ZONES, "zonesize": "512k"},
    {"rw": "write", "size": "4m", "bs": "12k", "offset": "1m", **_ZONES},
    {"rw": "write", "size": "2m", "bs": "4k", "io_size": "3m", **_ZONES},
    {"rw": "read", "size": "1m", "bs": "4k", "loops": "2", **_ZONES},
    {"rw": "write", "size": "1m", "bs": "4k", "offset_increment": "256k"},
    {"rw": "write", "size": "1m", "bs": "4k", "offset": "33%", "offset_align": "64k"},
    {"rw": "write", "size": "1m", "bs": "4k", "offset": "100k", "offset_align": "64k"},
    {"rw": "randread", "size": "1m", "bs": "4k", "offset": "7%"},
    {"rw": "write", "size": "2%", "bs": "4k", "offset": "10%"},
    {"rw": "write", "size": "10%", "bs": "4k", "offset": "95%"},
    {"rw": "write", "size": "2m", "bs": "4k", "io_size": "30%"},
    {"rw": "randwrite", "size": "3%", "bs": "4k", "io_size": "30%"},
    {"rw": "rw", "size": "2m", "bssplit": "4k/50:8k/50,16k/100"},
    {"rw": "randrw", "size": "2m", "bssplit": "4k/50:8k/50,16k/100", "norandommap": ""},
    {"rw": "write", "size": "2m", "bssplit": "4k/50:8k/50,16k/50:32k/50"},
    {"rw": "randread", "size": "2m", "bssplit": "4k/50:8k/50,16k/50:32k/50", "norandommap": ""},
    {"rw": "rw", "size": "2m", "bssplit": ",16k/50:32k/50"},
    *({"rw": rw, **_BY_ORDER} for rw in ("write", "randwrite")),
    {"rw": "randwrite", "size": "2m", "bs": "4k", "random_generator": "tausworthe64"},
    {"rw": "randrw", "bs": "4k", "percentage_random": "100,0", "norandommap": "", **_AT_THE_END},
    {"rw": "randrw:4", "bs": "4k", "rw_sequencer": "sequential", **_AT_THE_END},
    {"rw": "randrw", "size": "2m", "bs": "4k", "rwmixwrite": "30", "norandommap": ""},
    *({"rw": rw, "size": "1m", "bs": "4k"} for rw in ("write:8k", "rw:8k", "randread:1")),
    {"rw": "write", "size": "1m", "bs": "4k", "trim_percentage": "50", "trim_backlog": "16"},
    {"rw": "write", "size": "1m", "bs": "4k", "fill_device": "1"},
    {"rw": "write", "size": "1m", "io_size": "2m", "bs": "4k", "fill_device": "1"},
)
FURTHER = [
    Job(f"further{number}", {**options, "iodepth": "1"}) for number, options in enumerate(_OPTIONS)
]
"""Jobs of options that want a device of a length of its own, and of those that are not drawn."""

NO_VALUES = (
    *("io_size=150%", "percentage_random=101", "trim_percentage=101"),
    *(
        "zonemode=strided",
        "zonemode=striped",
        "zonesize=64k",
        "random_generator=mersenne",
        "rw_sequencer=soon",
    ),
    *("file_service_type=soon", "numjobs=0", "offset_align=x", "offset_increment=x"),
    *("bs_is_seq_rand=2", "fill_device=2", "bssplit=/50", "rwmixread=101"),
)
"""Values that fio refuses."""
