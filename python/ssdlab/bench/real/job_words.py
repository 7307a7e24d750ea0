"""A user's job as one for a real target: the same requests, to this target and no other.

The engine checks the job first, and refuses what starts programs or opens folders. Here what says
where and through what a job goes is taken out and told, the target's own words take its place, and
flags stand behind each job's options, where the last one counts. A replay of a log is refused: the
log names its files. A job that only reads is run with fio's ``--readonly``; whether it does is
judged by its ``rw``, the default of which is ``read``.

Left out: patterns that are ours alone (``zoned_scatter``, ``ranks``), which fio refuses itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ssdlab import engine
from ssdlab.ground.errors import SsdlabError

_ELSEWHERE = frozenset(
    {
        *("filename", "filename_format", "directory", "unique_filename", "nrfiles", "openfiles"),
        *("ioengine", "direct", "buffered", "thread", "uri", "file_service_type"),
        *("create_on_open", "create_only", "create_serialize", "fallocate", "unlink", "overwrite"),
    }
)
"""Where a job goes, and through what; the target says so itself."""
_NAMES_FILES = frozenset({"read_iolog", "write_iolog", "replay_device", "replay_redirect"})
_MEMORY = frozenset({"mem", "iomem"})
"""With a colon the buffers lie in a file, which is written to."""
_READS = frozenset({"read", "randread"})
_TRIM_AND_WRITE = frozenset({"trimwrite", "randtrimwrite"})
_NOT_DIRECT = (
    "trimwrite: fio opens what it trims without O_DIRECT, so that these writes go through the page "
    "cache of a block device"
)
"""Seen in fio 3.33: a job that trims skips the flags of opening."""
_RW = ("rw", "readwrite")
_SIZES = ("offset", "fileoffset", "size", "filesize")
_AMOUNT = re.compile(r"(\d+)([kmgt%]?)(?:i?b)?", re.IGNORECASE)
_FACTORS = {unit: 1 << 10 * power for power, unit in enumerate(("", "k", "m", "g", "t"))}
JobOption = tuple[str, str | None]
"""Name and value; None where it has none."""


@dataclass(frozen=True)
class RealJob:
    """What fio is given.

    Attributes
    ----------
    text
        A job file.
    writes
        Whether any job writes or trims.
    notices
        What was taken out, and what fio does unlike others.
    trims
        Whether any job trims.
    """

    text: str
    writes: bool
    notices: tuple[str, ...]
    trims: bool = False


def for_target(text: str | None, name: str, flags: Sequence[str], place: Sequence[str]) -> RealJob:
    """Return a job for a target.

    Parameters
    ----------
    text, name, flags
        The job file, what it is called, and fio's options, as for a simulated run.
    place
        What leads to the target, as fio's options: ``ioengine=libaio``, ``filename=/dev/sdb``.

    Raises
    ------
    SsdlabError
        The job is wrong, or goes to files that it names itself.
    """
    engine.check_job(text, name, tuple(flags))
    only, given, called = _sections_asked(flags)
    kept = [each for each in _sections(text, name, called) if not only or each[0] in only]
    made = [(title, [*options, *given]) for title, options in kept]
    taken = dict.fromkeys(_shown(each) for _, options in made for each in options if _is_off(each))
    notices = tuple(f"{each}: left out; the target is what --target names" for each in taken)
    lines = []
    for title, options in made:
        _refuse_files(name, options)
        lines += [f"[{title}]", *place, *(_shown(each) for each in options if not _is_off(each))]
    patterns = [_pattern(options) for _, options in made]
    if not set(patterns).isdisjoint(_TRIM_AND_WRITE):
        notices += (_NOT_DIRECT,)
    writes = not set(patterns) <= _READS
    trims = any("trim" in each for each in patterns)
    return RealJob("\n".join(lines) + "\n", writes, notices, trims)


def _sections_asked(flags: Sequence[str]) -> tuple[list[str], list[JobOption], str]:
    """Part the names of sections, and what the job is called, from the options."""
    pairs = [_option(each.lstrip("-")) for each in flags]
    only = [value or "" for name, value in pairs if name == "section"]
    called = [value or "" for name, value in pairs if name == "name"]
    options = [each for each in pairs if each[0] not in ("section", "name")]
    return only, options, (called or ["job"])[-1]


def _sections(text: str | None, name: str, called: str) -> list[tuple[str, list[JobOption]]]:
    """Return each job with what all share before it; without a file there is one."""
    if text is None:
        return [(called, [])]
    shared: list[JobOption] = []
    jobs: list[tuple[str, list[JobOption]]] = []
    current = shared
    for line in _lines(text):
        if line.startswith("["):
            title = line.partition("]")[0].lstrip("[").strip()
            if title == "global":
                current = shared
            else:
                # A later [global] is for the jobs behind it alone.
                jobs.append((title, [*shared]))
                current = jobs[-1][1]
        elif line.split()[0] == "include":
            raise SsdlabError(f"{name}: {line}: a job for a real target stands in one file")
        else:
            current.append(_option(line))
    return jobs


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        stripped = line.strip()
        if stripped and stripped[0] not in ";#":
            yield stripped


def _option(text: str) -> JobOption:
    name, equals, value = text.partition("=")
    return name.strip(), value.strip() if equals else None


def _shown(option: JobOption) -> str:
    name, value = option
    return name if value is None else f"{name}={value}"


def _is_off(option: JobOption) -> bool:
    return option[0] in _ELSEWHERE


def _refuse_files(name: str, options: Sequence[JobOption]) -> None:
    for option in options:
        in_a_file = option[0] in _MEMORY and ":" in (option[1] or "")
        if option[0] in _NAMES_FILES or in_a_file:
            raise SsdlabError(
                f"{name}: {_shown(option)}: names files of its own, and goes to no real target\n"
                "replay it on a simulated drive: --drive"
            )


def check_within(job: RealJob, size_bytes: int, target: str) -> None:
    """Refuse a job that goes beyond a file's end: fio would empty the file and make it larger.

    Raises
    ------
    SsdlabError
        It does, or it cannot be told.
    """
    for section in job.text.split("\n["):
        options = dict(_option(line) for line in _lines(section.partition("]")[2]))
        end = sum(_amount(options.get(name), size_bytes) for name in _SIZES[:-1])
        if max(end, _amount(options.get("filesize"), size_bytes)) > size_bytes:
            told = ", ".join(f"{key}={options[key]}" for key in _SIZES if key in options)
            raise SsdlabError(
                f"{target}: has {size_bytes} bytes, and {told} goes beyond its end\n"
                "give shares, such as size=50%, or a larger file"
            )


def _amount(value: str | None, size_bytes: int) -> float:
    """Return an amount in bytes; one that cannot be read is infinite."""
    if value is None:
        return 0
    found = _AMOUNT.fullmatch(value)
    if found is None:
        return math.inf
    number = int(found[1])
    return number * size_bytes / 100 if found[2] == "%" else number * _FACTORS[found[2].lower()]


def _pattern(options: Sequence[JobOption]) -> str:
    """Return a job's ``rw`` without what follows a colon; the last one counts."""
    given = [value or "" for name, value in options if name in _RW]
    return (given or ["read"])[-1].partition(":")[0].strip()
