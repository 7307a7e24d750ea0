"""What a drive can be brought into, by name.

Two conditions are steady. ``steady:uniform``, which ``steady`` alone means, is the same for all
jobs: the whole drive was written by uniform random writes of 4 KiB, or of its mapping unit where
that is larger, until its write amplification stood still. ``steady:job`` is a job's own: its writes
did it, with their skew, sizes, trims and layers.
"""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab.ground.errors import SsdlabError

UNIFORM = "steady:uniform"
BY_JOB = "steady:job"

CONDITIONS = ("fresh", "filled", "used", UNIFORM, BY_JOB)
"""All of them; a drive goes through the first three to one of the last two."""

CHOICES = ("fresh", "filled", "used", "steady", UNIFORM, BY_JOB)
"""What an option takes."""


def named(name: str | None) -> str | None:
    """Return the condition's full name: ``steady`` is `UNIFORM`; any other stays as it is."""
    return UNIFORM if name == "steady" else name


def is_steady(name: str | None) -> bool:
    """Tell whether it is one of the steady ones, or the only one that old results know."""
    return name in ("steady", UNIFORM, BY_JOB)


def check_job_counts(condition: str | None, text: str | None, flags: Sequence[str]) -> None:
    """Refuse a job that would bring a drive into a condition which is the same for all jobs.

    Parameters
    ----------
    condition
        What the drive is to be brought into.
    text
        The job file's, if there is one.
    flags
        fio options; how far data compress is all that they decide of uniform writes.

    Raises
    ------
    SsdlabError
        Its writes would play no part.
    """
    others = [each for each in flags if not each.startswith("--buffer_compress_percentage")]
    if named(condition) == UNIFORM and (text is not None or others):
        raise SsdlabError(
            f"{condition}: is the same for all jobs: uniform random writes over the drive\n"
            f"for the steady state under the job's own writes: {BY_JOB}"
        )
