"""What a layout of the audit's tests is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from machine import MadeMachine


@dataclass(frozen=True)
class Layout:
    """One layout.

    Attributes
    ----------
    name
        What it shows.
    build
        Makes the machine.
    found
        Check and severity of every finding that looks wrong, in the audit's order.
    place
        What the first finding's place must name.
    remedy
        What its remedy must have.
    unseen
        Checks that must say that they did not look, beside others that may.
    """

    name: str
    build: Callable[[], MadeMachine]
    found: tuple[tuple[str, str], ...] = ()
    place: str = ""
    remedy: str = ""
    unseen: tuple[str, ...] = ()
