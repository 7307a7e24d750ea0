"""Whose commands a plan is answered with: one system's, or every one's that has all its layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.align import on_freebsd, on_linux, on_windows
from ssdlab.machine.align.tools import LayoutPlan, Lines, NotMade, system_of

_MAKERS: dict[str, Callable[[LayoutPlan], Iterator[Lines]]] = {
    "linux": on_linux.lines,
    "windows": on_windows.lines,
    "freebsd": on_freebsd.lines,
}


def commands(wanted: LayoutPlan, systems: Sequence[str] = ()) -> list[Lines]:
    """Say what to type for a plan.

    Parameters
    ----------
    wanted
        What to make.
    systems
        Whose commands are wanted; by default those of the system that the drives' names belong
        to, or without names of all that have every layer.

    Raises
    ------
    SsdlabError
        A system that was asked for, or every one, lacks a layer; or the drives are another's.
    """
    own = system_of(wanted.devices)
    if own is not None and any(each != own for each in systems):
        raise SsdlabError(
            f"--system {', '.join(systems)}: {', '.join(wanted.devices)} are names of {own}; leave "
            "--system out"
        )
    asked = [own] if own else systems
    if asked:
        return [each for system in asked for each in _MAKERS[system](wanted)]
    return _of_all(wanted)


def _of_all(wanted: LayoutPlan) -> list[Lines]:
    found: list[Lines] = []
    reasons = []
    for make in _MAKERS.values():
        try:
            found.extend(list(make(wanted)))
        except NotMade as reason:
            reasons.append(str(reason))
    if not found:
        raise SsdlabError("no system has all these layers\n" + "\n".join(reasons))
    return found
