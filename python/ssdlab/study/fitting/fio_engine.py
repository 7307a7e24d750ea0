"""How fio reached the drive: how many requests were in flight, and whether memory stood before it.

A synchronous engine has one request in flight, whatever ``iodepth`` says; fio's own default engine
is one (psync, on Linux). Without ``direct=1`` reads and writes go through the page cache, so that
they are the memory's and not the drive's; engines that speak to the device itself have no cache.
Engines by name, from fio's sources (`FIO_SYNCIO` in ``engines/``, fio 3.42).
"""

from __future__ import annotations

from collections.abc import Mapping

from ssdlab.ground.errors import SsdlabError

_DEFAULT = "psync"
_SYNCHRONOUS = frozenset(
    "sync psync vsync pvsync pvsync2 mmap splice libpmem dev-dax mtd libzbc".split()
)
_AROUND_THE_CACHE = frozenset("sg io_uring_cmd xnvme libblkio spdk libpmem dev-dax mtd".split())
_ALWAYS_CACHED = ("mmap", "splice")
_NO_DRIVE = frozenset(
    "null cpuio net netsplice exec rdma http falloc ftruncate e4defrag filecreate filestat "
    "filedelete dircreate dirstat dirdelete".split()
)


def depth_of(options: Mapping[str, str]) -> str:
    """Return how many requests fio had in flight at most."""
    return "1" if _engine(options) in _SYNCHRONOUS else options.get("iodepth") or "1"


def check_reached_drive(options: Mapping[str, str], place: str) -> None:
    """Refuse a job that fio did not measure the drive with.

    Parameters
    ----------
    options
        Of the job, global ones among them.
    place
        Its own, for messages.

    Raises
    ------
    SsdlabError
        It moved nothing, or went through the page cache.
    """
    engine = _engine(options)
    if engine in _NO_DRIVE:
        raise SsdlabError(
            f"{place}: ioengine={engine} reads and writes no drive\n"
            "measure again with ioengine=io_uring or libaio, and direct=1"
        )
    if engine in _AROUND_THE_CACHE:
        return
    if engine in _ALWAYS_CACHED:
        why = f"ioengine={engine} goes through the page cache"
    elif not _is_on(options.get("direct"), "0") and _is_on(options.get("buffered"), "1"):
        said = f"direct={options['direct']}" if "direct" in options else "no direct=1"
        why = f"it went through the page cache ({said} among its options)"
    else:
        return
    raise SsdlabError(
        f"{place}: {why}, so that its figures are the memory's and not the drive's\n"
        "measure again with --direct=1 and --ioengine=io_uring or libaio, or leave this result out"
    )


def _engine(options: Mapping[str, str]) -> str:
    return (options.get("ioengine") or _DEFAULT).partition(":")[0]


def _is_on(value: str | None, default: str) -> bool:
    return (value or default).strip() not in ("0", "false")
