"""A step as commands of fio.

What each option is for: ``direct`` goes around the page cache; ``refill_buffers`` gives every
request random data of its own; ``norandommap`` lets random offsets repeat, as the standard's
uniform distribution does; ``randseed`` follows from the step's seed, so that no two steps go to the
same places in the same order, and counts only beside ``randrepeat=0`` (without it every run of fio
3.33 goes to the same places, whatever the seed: fio's issue 1502); ``tausworthe64`` is a generator
with more than the 48 bits that the standard asks for; ``lat_percentiles`` keeps bins of the
response time from submission to completion; ``thread`` and ``group_reporting`` make one result of
all threads.

A sequential load of several threads gives each a share of the target, so that a pass writes every
byte once. Shares end at a multiple of the block size; the rest of the target is written once a pass
by a command of its own. A timed sequential load that begins in the middle of its share and comes to
the end goes on from the share's beginning, in a second command for the time that is left. A step
that may end once its mean is known does so by fio's own rule, and a command of its own writes what
its time would still have written.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b

from ssdlab.bench.measurement import PERCENTS
from ssdlab.bench.plan import MixedLoad, Step, Workload


@dataclass(frozen=True)
class Place:
    """What fio is pointed at.

    Attributes
    ----------
    engine
        fio's I/O engine.
    words
        Options that name the target: ``--filename=…`` or ``--uri=…``.
    capacity_bytes
        Its size.
    """

    engine: str
    words: tuple[str, ...]
    capacity_bytes: int


_SHORTEST_S = 0.02
_SHARE_LEFT = 0.005
_ALWAYS = (
    "--thread",
    "--group_reporting",
    "--norandommap",
    "--random_generator=tausworthe64",
    "--refill_buffers",
    "--lat_percentiles=1",
    "--clat_percentiles=0",
    "--percentile_list=" + ":".join(f"{percent:g}" for percent in PERCENTS),
    "--output-format=json+",
    "--eta=never",
)


def commands(step: Step, place: Place) -> list[list[str]]:
    """Give the commands of a step, without the program, in order."""
    if step.load.pattern == "random":
        return [[*_common(step, place), *_amount(step, place.capacity_bytes)]]
    share = share_bytes(step.load, place)
    if step.passes is not None:
        return [_whole_shares(step, place, share), *_rest(step, place, share)]
    return [_from_the_middle(step, place, share) if step.offset_bytes else _timed(step, place)]


def remainder(step: Step, place: Place, done_s: float) -> list[str] | None:
    """Give the command for the time that is left, where a timed step came to the end too soon."""
    is_open = step.passes is None and step.load.pattern == "sequential" and step.offset_bytes
    left_s = (step.seconds or 0.0) - done_s
    # What fio's own clock is short of is no time left.
    enough_s = max(_SHORTEST_S, _SHARE_LEFT * (step.seconds or 0.0))
    return _timed(step, place, left_s) if is_open and left_s >= enough_s else None


def unwritten(step: Step, place: Place, done_s: float, written_bytes: int) -> list[str] | None:
    """Give the command that writes what a step that ended early would still have written."""
    left_s = (step.seconds or 0.0) - done_s
    size = int(written_bytes / done_s * left_s) if done_s else 0
    each = size // step.load.threads // step.load.block_bytes * step.load.block_bytes
    if step.precision is None or left_s <= 0 or each == 0:
        return None
    load = replace(step.load, pattern="random", read_percent=0)
    rest = Step(step.name, load, step.seed + 1)
    return [*_common(rest, place), f"--size={place.capacity_bytes}", f"--io_size={each}"]


def share_bytes(load: Workload, place: Place) -> int:
    """Give the bytes of the target that one thread of a sequential load has for itself."""
    return place.capacity_bytes // load.threads // load.block_bytes * load.block_bytes


def _common(step: Step, place: Place) -> list[str]:
    load = step.load
    kind = "rand" if load.pattern == "random" else ""
    words = [
        f"--name={step.name}",
        f"--ioengine={place.engine}",
        *place.words,
        "--direct=1",
        *_direction(kind, load.read_percent),
        *_sizes(load),
        f"--iodepth={load.depth}",
        f"--numjobs={load.threads}",
        "--randrepeat=0",
        f"--randseed={_seed(step.seed)}",
        *_ALWAYS,
    ]
    if step.precision is not None:
        words.append(f"--steadystate=iops:{step.precision.deviation_percent}%")
        words.append(f"--steadystate_duration={step.precision.seconds}s")
    if step.pauses is not None:
        words.append(f"--thinktime={_microseconds(step.pauses.idle_s)}us")
        words.append(f"--thinktime_iotime={_microseconds(step.pauses.work_s)}us")
    return words


def _sizes(load: Workload) -> list[str]:
    """Say how large requests are; of a mix, also where they go.

    Requests of a mix begin at multiples of its most frequent size, as far as fio aligns them.
    """
    if not isinstance(load, MixedLoad):
        return [f"--bs={load.block_bytes}"]
    sizes = ":".join(f"{size}/{percent}" for size, percent in load.sizes)
    zones = ":".join(f"{requests}/{places}" for requests, places in load.zones)
    return [
        f"--bssplit={sizes}",
        f"--blockalign={load.block_bytes}",
        f"--random_distribution=zoned:{zones}",
    ]


def _seed(seed: int) -> int:
    """Spread a seed over 62 bits.

    fio multiplies it with the number of a thread: the second thread of seed 1 would go where the
    first one of seed 2 goes. It reads a signed number, and takes 0 for no seed.
    """
    return 1 + int.from_bytes(blake2b(str(seed).encode(), digest_size=8).digest(), "big") // 4


def _direction(kind: str, read_percent: int) -> list[str]:
    if read_percent in (0, 100):
        return [f"--rw={kind}{'read' if read_percent else 'write'}"]
    return [f"--rw={kind}rw", f"--rwmixread={read_percent}"]


def _microseconds(seconds: float) -> int:
    return round(seconds * 1e6)


def _amount(step: Step, capacity_bytes: int) -> list[str]:
    """Say when a random load ends: after a time, or after so many bytes, shared by the threads."""
    size = [f"--size={capacity_bytes}"]
    if step.passes is None:
        return [*size, "--time_based", f"--runtime={_microseconds(step.seconds or 0)}us"]
    each = round(step.passes * capacity_bytes / step.load.threads)
    return [*size, f"--io_size={max(each, step.load.block_bytes)}"]


def _whole_shares(step: Step, place: Place, share: int) -> list[str]:
    passes = step.passes or 0
    return [*_common(step, place), *_shares(share), f"--io_size={round(passes * share)}"]


def _shares(share: int, offset: int = 0) -> list[str]:
    words = [f"--size={share - offset}", f"--offset_increment={share}"]
    return [*words, f"--offset={offset}"] if offset else words


def _timed(step: Step, place: Place, seconds: float | None = None) -> list[str]:
    left = step.seconds if seconds is None else seconds
    runtime = ["--time_based", f"--runtime={_microseconds(left or 0)}us"]
    return [*_common(step, place), *_shares(share_bytes(step.load, place)), *runtime]


def _from_the_middle(step: Step, place: Place, share: int) -> list[str]:
    offset = step.offset_bytes // step.load.block_bytes * step.load.block_bytes % share
    runtime = f"--runtime={_microseconds(step.seconds or 0)}us"
    if offset == 0:
        return _timed(step, place)
    return [*_common(step, place), *_shares(share, offset), runtime]


def _rest(step: Step, place: Place, share: int) -> list[list[str]]:
    """Write what no share has, in one request a pass."""
    rest = place.capacity_bytes - share * step.load.threads
    if rest == 0 or not step.load.writes:
        return []
    load = Workload("sequential", step.load.read_percent, rest, threads=1, depth=1)
    alone = Step(step.name, load, step.seed, passes=step.passes)
    offset = [f"--offset={place.capacity_bytes - rest}", f"--size={rest}"]
    passes = round(step.passes or 0) or 1
    return [[*_common(alone, place), *offset, f"--io_size={passes * rest}"]]


def shown(words: Sequence[str]) -> str:
    """Show a command as one would type it."""
    return shlex.join(["fio", *words])
