"""A job file from a load that was counted: it runs in ``ssdlab run`` and in fio.

It names no device and lays out a file of its own. What counters cannot tell is assumed, and the
file says so: offsets are random, every request has the mean size of its kind, the pace is even.
Discards are left out, since no job mixes them with reads and writes of a file.
"""

from __future__ import annotations

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.audit.load import DeviceLoad, Requests

_PAGE = 4096
_SECTOR = 512
_SIZE = "1g"
_MOST_DEPTH = 1024
_RUNTIME_S = 60


def job_of(load: DeviceLoad) -> str:
    """Write the job file.

    Raises
    ------
    SsdlabError
        Nothing was read or written, so that there is no load to write.
    """
    if not load.reads.bytes and not load.writes.bytes:
        raise SsdlabError(
            f"--load: {load.label} ({load.kind}) was neither read nor written in "
            f"{load.seconds:.0f} s, so there is no job to write; count for longer, or while the "
            "machine works"
        )
    return "\n".join([*_comments(load), "[load]", *_options(load)]) + "\n"


def _options(load: DeviceLoad) -> list[str]:
    reads, writes = load.reads, load.writes
    kinds = [each for each in (reads, writes) if each.bytes]
    mix = ["rw=randread" if reads.bytes else "rw=randwrite"]
    if len(kinds) == 2:
        share = reads.count / (reads.count + writes.count)
        mix = ["rw=randrw", f"rwmixread={min(99, max(1, round(100 * share)))}"]
    mix.append("bs=" + ",".join(str(_block(each)) for each in kinds))
    mix.append("rate_iops=" + ",".join(str(_rate(load, each)) for each in kinds))
    depth = min(_MOST_DEPTH, max(1, round(load.busy_depth or 1)))
    flushed = [f"fsync={each}"] if (each := _writes_a_flush(load)) else []
    run = [f"size={_SIZE}", "ioengine=libaio", "direct=1", "time_based", f"runtime={_RUNTIME_S}"]
    return [*mix, f"iodepth={depth}", *flushed, *run]


def _block(requests: Requests) -> int:
    """Round the mean size to whole pages; below one to whole sectors."""
    mean = requests.mean_bytes or 0
    grain = _PAGE if mean >= _PAGE else _SECTOR
    return max(grain, round(mean / grain) * grain)


def _rate(load: DeviceLoad, requests: Requests) -> int:
    """Round to whole requests a second; fio has no smaller rate than one."""
    return max(1, round(load.per_second(requests)))


def _writes_a_flush(load: DeviceLoad) -> int:
    if not load.flushes or not load.writes.bytes:
        return 0
    return max(1, round(load.writes.count / load.flushes))


def _comments(load: DeviceLoad) -> list[str]:
    told = [
        f"What Linux counted in {load.seconds:.0f} s, as a job for ssdlab run and for fio.",
        f"counted: {_kind('reads', load, load.reads)}; {_kind('writes', load, load.writes)}",
        f"counted: {load.depth:.2f} requests under way on average, {load.busy_depth or 0:.2f} "
        "while there were any",
        "assumed: offsets are random (the counters do not tell random from sequential)",
        "assumed: every request has the mean size of its kind, rounded to whole pages of 4 KiB, "
        "or to sectors below one page",
        "assumed: the pace is even, in whole requests a second and at least one",
        f"assumed: one file of {_SIZE} takes all of it; the counters do not tell where it went",
        f"assumed: {_RUNTIME_S} s are enough to measure",
    ]
    if load.flushes:
        told.append(f"counted: {load.flushes} flushes")
        told.append("assumed: each flush commits the writes before it, and they are evenly spread")
    if load.flushes is None:
        told.append("left out: flushes, which the kernel does not count for this device")
    if load.discards is not None and load.discards.count:
        told.append(
            f"left out: {load.discards.count} discards of {load.discards.bytes} bytes "
            f"({load.discard_share or 0:.1%} of the requests)"
        )
    return [f"# {line}" for line in told]


def _kind(name: str, load: DeviceLoad, requests: Requests) -> str:
    if requests.mean_bytes is None:
        return f"no {name}"
    return (
        f"{load.per_second(requests):.2f} {name} a second of {requests.mean_bytes / 1024:.1f} KiB"
    )
