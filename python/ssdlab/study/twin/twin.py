"""A twin in the making: the numbers derived so far, and its figures beside the measured ones."""

from __future__ import annotations

from dataclasses import dataclass, field

from ssdlab.engine.request import Settings
from ssdlab.study.twin.goals import Goal


@dataclass(frozen=True)
class Derived:
    """A number of the profile, of which kind it is, and where it comes from."""

    key: str
    value: str
    kind: str
    source: str


@dataclass(frozen=True)
class Compared:
    """A figure beside the measured one: ``fitted``, ``missed``, ``chose`` or ``predicted``."""

    goal: Goal
    twin: float
    how: str

    @property
    def difference(self) -> float:
        """Of the twin, as a share of what was measured."""
        return self.twin / self.goal.value - 1


@dataclass
class Twin:
    """What has been found so far.

    Attributes
    ----------
    base
        The profile that it begins with.
    numbers
        By key, in the order in which they were found first.
    compared
        Figures, in order.
    evidence
        MiB/s of the choosing pattern by victim policy, None where it does not give uniform writes
        their rate; empty where none chose.
    """

    base: str
    numbers: dict[str, Derived] = field(default_factory=dict)
    compared: list[Compared] = field(default_factory=list)
    evidence: dict[str, float | None] = field(default_factory=dict)

    def settings(self, **more: float | str) -> Settings:
        """Return what differs from the base, with more; a dot of a key is written ``__``."""
        found = {key: each.value for key, each in self.numbers.items()}
        found |= {key.replace("__", "."): written(value) for key, value in more.items()}
        return tuple(found.items())

    def derive(self, key: str, value: float | str, kind: str, source: str) -> None:
        """Keep a number; one that was there gives way."""
        self.numbers[key] = Derived(key, written(value), kind, source)

    def fit(self, key: str, value: float | str, goals: str) -> None:
        """Keep a number that was fitted to goals."""
        self.derive(key, value, "fitted", f"to {goals}")

    def compare(self, goal: Goal, twin: float, how: str) -> None:
        """Keep a figure."""
        self.compared.append(Compared(goal, twin, how))


def written(value: float | str) -> str:
    """Write a number with four digits; a text stays.

    Examples
    --------
    >>> written(575.6789), written(0.0), written("greedy")
    ('575.7', '0', 'greedy')
    """
    return value if isinstance(value, str) else f"{value:.4g}"
