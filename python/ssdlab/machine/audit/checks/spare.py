"""Spare area: whether the drive has room to collect garbage in.

A part of the drive that is never written, or trimmed and then left alone, works as spare area on
top of the drive's own. Where TRIM reaches the drive, free space in file systems does the same, so a
full file system leaves none (``room`` counts it). TRIM does not reach the SSD of a cache, which
fills up and stays full.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from ssdlab.machine.audit.checks.discard import passes_discards, where_sight_ends
from ssdlab.machine.audit.checks.trim_schedule import is_never_sent, is_sent, is_unseen
from ssdlab.machine.audit.cost import cost_of_room
from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import Remedy, advice, leave_room
from ssdlab.machine.audit.room import WANTED, Room, room_of
from ssdlab.real.device import Device, Use

_SOURCE = (
    "Thomas-Krenn SSD e-book, ch. 2 and 3 (use 90 % without TRIM, 80 % in arrays); "
    "blog post of 5 December 2012 (spare area of a full SSD); docs/explanation/model.md"
)


def check(machine: Machine) -> Iterator[Finding]:
    """Check every SSD that is in use."""
    for name in machine.ssds():
        drive = machine.topology.devices[name]
        users = machine.topology.users(name)
        if not users:
            continue
        untrimmed = _untrimmed(machine, name)
        room = room_of(machine, drive, partial(_counts, machine, untrimmed))
        unseen = [why for use in users for why in where_sight_ends(machine, use.device)]
        unseen += [why for use in users if (why := is_unseen(machine, use))]
        unseen += room.unseen
        share = room.share(drive.size_bytes)
        if drive.is_virtual and (not untrimmed or share >= WANTED):
            # What the host has left of its SSD, nobody here can see; ``media`` says so.
            continue
        if share >= WANTED:
            least = "at least " if unseen else ""
            what = f"its spare is {least}{share:.0%} of the rest ({room})"
            yield Finding("spare area", Severity.GREEN, what, drive.label, cost_of_room(share))
        elif unseen:
            yield not_looked_at("spare area", unseen[0], drive.label)
        else:
            unsent = [use.place for use in users if is_never_sent(machine, use)]
            yield _too_little(drive, room, untrimmed, unsent)


def _counts(machine: Machine, untrimmed: list[str], use: Use) -> bool:
    """Whether the drive hears of what is freed there, as far as can be seen."""
    return (
        use.place not in untrimmed
        and not where_sight_ends(machine, use.device)
        and is_sent(machine, use)
    )


def _untrimmed(machine: Machine, drive: str) -> list[str]:
    """Name the places on a drive whose discards do not get all the way to it."""
    places = []
    for use in machine.topology.users(drive):
        layers = machine.topology.trimmed_layers(use.device)
        above = [each for each in layers if each.kind != "drive" or each.name == drive]
        arrives = any(each.name == drive for each in layers)
        if not arrives or not all(passes_discards(device) for device in above):
            places.append(use.place)
    return places


def _too_little(drive: Device, room: Room, untrimmed: list[str], unsent: list[str]) -> Finding:
    share = room.share(drive.size_bytes)
    told = "its"
    if untrimmed:
        told = f"no TRIM reaches it from {_listed(untrimmed)}, and its"
    elif unsent:
        told = f"no TRIM is sent from {_listed(unsent)}, and its"
    return Finding(
        "spare area",
        Severity.YELLOW,
        f"{told} spare is only {share:.0%} of the rest ({room})",
        drive.label,
        cost_of_room(share),
        _remedy(drive, room, untrimmed, unsent),
        _SOURCE,
    )


def _remedy(drive: Device, room: Room, untrimmed: list[str], unsent: list[str]) -> Remedy:
    if not untrimmed and unsent:
        return advice(
            f"let TRIM be sent from {_listed(unsent)} (trim schedule says how): what is free there "
            "then counts",
            "none to data",
            "that of the trim schedule",
        )
    return leave_room(drive) if untrimmed or not room.places else _make_room(drive, room)


def _listed(places: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(places))


def _make_room(drive: Device, room: Room) -> Remedy:
    return advice(
        f"move what is not needed from {_listed(room.places)} to another drive, until a tenth of "
        f"{drive.label} is free, and run fstrim on each of these places",
        "none to what stays; have a backup of what is moved",
        "move it back",
    )
