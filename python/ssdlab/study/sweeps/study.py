"""A study as data: a base, and the factors that are varied over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ssdlab.engine.request import RunRequest
from ssdlab.study.sweeps.factors import Constraint, Factor, Sample


@dataclass(frozen=True)
class Study:
    """What is asked for.

    Attributes
    ----------
    name
        The file's, for messages.
    source
        Its text.
    bases
        A request for each drive and job, before any factor.
    seeds
        Each point is run with each of them.
    factors
        What is varied.
    sample
        How ranges without steps are sampled; None where there are none.
    constraints
        What every combination must hold to.
    """

    name: str
    source: str
    bases: tuple[RunRequest, ...]
    seeds: tuple[int, ...]
    factors: tuple[Factor, ...]
    sample: Sample | None
    constraints: tuple[Constraint, ...]

    @property
    def keys(self) -> list[str]:
        """The keys that are varied, in the order of the file."""
        return [key for factor in self.factors for key in factor.keys]


def as_text(value: Any) -> str:
    """Write a value as `--set` takes it.

    Examples
    --------
    >>> as_text(True), as_text(0.07), as_text("1GiB")
    ('true', '0.07', '1GiB')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)
