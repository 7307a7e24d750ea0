"""AHCI link power management, as powercfg /qh of Windows lists it.

The texts of powercfg are translated, its numbers and GUIDs are not: lines are told apart by their
form and order. In an English text their words are known, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ssdlab.machine.audit.finding import Finding, Severity, not_looked_at
from ssdlab.machine.audit.pasted import Pasted, PastedLine
from ssdlab.machine.audit.remedy import Remedy

_LINK = "0b2d69d7-a2a1-449c-9680-f91c70521c60"
_HARD_DISK = "0012ee47-9041-4b5d-9b77-535fba8b1442"
"""The group of settings that it is in, which powercfg /q lists without it."""
_AWAKE = frozenset({"active", "hipm", "dipm", "hipm+dipm"})
_LOWEST = "lowest"
_SOURCE = "Microsoft Learn: AHCI Link Power Management - HIPM/DIPM; powercfg /qh"
_HEAD = re.compile(r"[^:]*:\s*([0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?:\s+\(.*\))?")
_LINES = {
    # letters of the order below, and the form of a line
    "a": re.compile(r"[^:]*GUID[^:]*:\s*[A-Z][A-Z0-9_]*"),
    "i": re.compile(r"[^:]+:\s*\d{3}"),
    "h": re.compile(r"[^:]+:\s*0x[0-9a-fA-F]{8}"),
    "t": re.compile(r"[^:]+:\s*\S.*"),
}
_ORDER = re.compile(r"a?(?:it)*(?:hhht)?(?:hh)?")
"""Alias; number and name of each choice; or least, most, step and unit; then mains and battery."""
_ENGLISH = re.compile(
    r"GUID Alias: \w+|Possible Setting Index: \d{3}|Possible Setting Friendly Name: .*|"
    r"(?:(?:Minimum|Maximum) Possible Setting|Possible Settings increment|"
    r"Current [AD]C Power Setting Index): 0x[0-9a-fA-F]{8}|Possible Settings units: .*"
)
_SURELY_ENGLISH = re.compile(r"Possible Setting|Current [AD]C Power|Minimum Possible")


@dataclass
class _Section:
    """A scheme, a group or a setting, and the lines below its GUID."""

    guid: str
    lines: list[PastedLine] = field(default_factory=list)

    def values(self) -> str:
        """Mark the lines, and give the letter of each that is understood."""
        if any(_SURELY_ENGLISH.match(line.text.strip()) for line in self.lines):
            for line in self.lines:
                if not _ENGLISH.fullmatch(line.text.strip()):
                    line.refuse("powercfg is not known to print such a line of a setting")
            self.lines = [line for line in self.lines if not line.refusal]
        letters = ""
        for line in self.lines:
            letters += "t" if letters.endswith("i") else _letter(line.text.strip())
        for line in self.lines:
            if _ORDER.fullmatch(letters):
                line.take()
            else:
                line.refuse("the lines of this setting are not in an order that is known here")
        return letters if _ORDER.fullmatch(letters) else ""


def _letter(text: str) -> str:
    return next((letter for letter, form in _LINES.items() if form.fullmatch(text)), "?")


def link(pasted: Pasted) -> Iterator[Finding]:
    """Judge the setting on mains and on battery, by the names that the text gives its numbers."""
    sections = _sections(pasted)
    guids = {each.guid for each in sections}
    if not guids & {_LINK, _HARD_DISK}:
        return
    for each in sections:
        letters = each.values()
        if each.guid == _LINK:
            yield from _judged(each, letters)
    if _LINK not in guids:
        yield not_looked_at("link", "the setting is hidden here: powercfg /qh shows it", "powercfg")
    for line in pasted.lines:
        if _HEAD.fullmatch(line.text.strip()):
            line.take()


def _sections(pasted: Pasted) -> list[_Section]:
    sections: list[_Section] = []
    for block in pasted.blocks():
        is_within = False
        for line in block:
            head = _HEAD.fullmatch(line.text.strip())
            if head:
                sections.append(_Section(head[1].lower()))
            elif is_within and line.is_open:
                sections[-1].lines.append(line)
            is_within = is_within or head is not None
    return sections


def _judged(section: _Section, letters: str) -> Iterator[Finding]:
    values = [_value(line) for line in section.lines]
    names = {
        int(values[place]): section.lines[place + 1]
        for place, letter in enumerate(letters)
        if letter == "i"
    }
    if not letters.endswith("hh"):
        because = "the text does not show, in a form that is known here, how it is set"
        yield not_looked_at("link", because, "powercfg")
        return
    for where, line in zip(("on mains", "on battery"), section.lines[-2:], strict=True):
        index = int(_value(line), 16)
        name = _value(names[index]) if index in names else ""
        if not name:
            because = f"its setting is {index}, which the text does not name"
            line.refuse("the text has no name of this setting")
            yield not_looked_at("link", because, where)
        elif _LOWEST in name.lower():
            yield _sleepy(where, name, index)
        elif name.lower() in _AWAKE:
            yield Finding("link", Severity.GREEN, f"link power management: {name}", where)
        else:
            because = f"what its setting {name} means is not known here"
            names[index].refuse("what this setting means is not known here")
            yield not_looked_at("link", because, where)


def _value(line: PastedLine) -> str:
    return line.text.partition(":")[2].strip()


def _sleepy(where: str, name: str, index: int) -> Finding:
    word = "setacvalueindex" if where == "on mains" else "setdcvalueindex"
    command = f"powercfg /{word} scheme_current sub_disk {_LINK}"
    return Finding(
        "link",
        Severity.YELLOW,
        f"link power management is {name}",
        where,
        "some drives hang until their link is reset when it sleeps so deeply",
        Remedy(
            "keeps the link awake",
            "none to data; a notebook uses a little more power",
            f"{command} {index}; powercfg /setactive scheme_current",
            (f"{command} 0", "powercfg /setactive scheme_current"),
        ),
        _SOURCE,
    )
