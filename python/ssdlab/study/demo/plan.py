"""What the demo measures: one drive, the five jobs of the e-book, and random writes with remedies.

The drive is the whole drive of the profile, unless `ssdlab demo --capacity` makes it smaller: write
amplification and IOPS in steady state follow from the share of spare blocks, hardly from their
number, and a smaller drive is brought there sooner.
"""

from __future__ import annotations

from dataclasses import dataclass

DRIVE = "intel-dc-s3500-80gb"
"""The drive that is shown unless another is named; documents have figures of it."""
LOAD_BYTES_PER_DAY = 20_000_000_000
"""Host writes a day for which the lifetime is stated."""

_COMMON = "filename=/dev/ssd\ndirect=1\nrefill_buffers\nioengine=libaio\niodepth=16\n"
_EBOOK = {
    "readtp": ("read", "5g", "1024k"),
    "writetp": ("write", "5g", "1024k"),
    "readiops": ("randread", "1g", "4k"),
    "writeiops": ("randwrite", "1g", "4k"),
    "mixediops": ("randrw", "1g", "4k"),
}
RANDOM_WRITES = "randwrite"
JOBS = (
    "randwrite: 4 KiB random writes to the whole drive. readtp, writetp: 1 MiB sequential, 5 GiB; "
    "readiops, writeiops, mixediops: 4 KiB random, 1 GiB (jobs of the Thomas-Krenn e-book). "
    "Queue depth 16."
)
"""What the names of the jobs stand for."""
FALL_PASSES = 5
"""How often a fresh drive is written over until it is nearly steady."""
# Late enough for garbage collection to have found its pace again after the pause.
_DRAWN = (15_000_000_000, 20_000_000)


@dataclass(frozen=True)
class DemoRun:
    """One run of the demo.

    Attributes
    ----------
    part
        Its name in files and in the table of figures.
    label
        Its name for people.
    job_name, job_text
        What is run.
    timeline
        The stretch whose single operations are drawn: start and length in nanoseconds.
    """

    part: str
    label: str
    job_name: str
    job_text: str
    timeline: tuple[int, int] | None = None


@dataclass(frozen=True)
class PreparedDrive:
    """A drive in a condition, and what is measured on copies of it.

    Attributes
    ----------
    label
        Its name for people.
    is_steady
        The drive is brought into steady state; else it is fresh.
    span
        Share of the drive that is used at all.
    measurements
        What is then run.
    """

    label: str
    is_steady: bool
    measurements: tuple[DemoRun, ...]
    span: float = 1.0


def _section(name: str, *options: str) -> str:
    return f"[{name}]\n{_COMMON}" + "".join(f"{option}\n" for option in options)


def _random_writes(used_percent: int, *options: str) -> str:
    region = () if used_percent == 100 else (f"size={used_percent}%",)
    return _section(RANDOM_WRITES, "rw=randwrite", "bs=4k", "norandommap", *region, *options)


def _measured(part: str, label: str, used_percent: int = 100, before: str = "") -> DemoRun:
    job = before + _random_writes(used_percent, "io_size=25%", "stonewall")
    timeline = _DRAWN if part in ("fresh", "steady") else None
    return DemoRun(f"{RANDOM_WRITES}-{part}", label, RANDOM_WRITES, job, timeline)


def _ebook(state: str) -> tuple[DemoRun, ...]:
    return tuple(
        DemoRun(
            f"{name}-{state}", state, name, _section(name, f"rw={rw}", f"size={size}", f"bs={block}")
        )
        for name, (rw, size, block) in _EBOOK.items()
    )


def _fall() -> DemoRun:
    return DemoRun("fall", "from fresh on", "fall", _fall_job())


def _fall_job() -> str:
    # Without it fio repeats the order of the first pass, which collects nothing.
    anew = ("norandommap", "randrepeat=0")
    return _section("fall", "rw=randwrite", "bs=4k", *anew, f"loops={FALL_PASSES}")


def _unused(percent: int) -> PreparedDrive:
    label = f"{percent} % left unused"
    measured = _measured(f"unused-{percent}", label, 100 - percent)
    return PreparedDrive(label, True, (measured,), 1 - percent / 100)


def drives() -> list[PreparedDrive]:
    """Return everything that is run; the longest first, so that the cores end together."""
    trimmed = _section("trim", "rw=trim", "bs=1m")
    steady = (
        *_ebook("steady"),
        _measured("steady", "steady"),
        _measured("trimmed", "trimmed", before=trimmed),
    )
    return [
        PreparedDrive("the fall", False, (_fall(),)),
        PreparedDrive("steady", True, steady),
        *(_unused(percent) for percent in (7, 20, 25)),
        PreparedDrive("fresh", False, (*_ebook("fresh"), _measured("fresh", "fresh"))),
    ]


def parts() -> list[str]:
    """Return the parts in the order in which they are shown."""
    ebook = [f"{name}-{state}" for name in _EBOOK for state in ("fresh", "steady")]
    remedies = ("fresh", "steady", "unused-7", "unused-20", "unused-25", "trimmed")
    return [*(f"{RANDOM_WRITES}-{remedy}" for remedy in remedies), *ebook, "fall"]
