"""What happens to the small drive, in the words of the glossary.

Every sentence is made from the engine's record: places, counts and reasons are read, never assumed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ssdlab.ground.text import plural

ExplainedStep = Mapping[str, Any]
ExplainedDrive = Mapping[str, Any]
"""As the engine tells them, in JSON."""

CHAPTERS = {
    "write": (
        "A write",
        "Flash is programmed page by page and erased block by block. Each logical unit that the "
        "host writes goes to the next free page of the open block, and the map records where it "
        "is.",
    ),
    "overwrite": (
        "An overwrite",
        "A programmed page cannot be programmed again before its block is erased. New data go to "
        "the next free page, the map is updated, and the old page becomes invalid: it holds data "
        "that nobody needs, and still takes up space.",
    ),
    "misaligned": (
        "A misaligned write",
        "A write as long as a unit that begins on a unit boundary touches one unit. The same write "
        "one sector earlier touches two: the drive reads what the write does not cover, and "
        "programs both units whole (read-modify-write).",
    ),
    "collection": (
        "Garbage collection",
        "When free blocks run out, the drive chooses a victim ({victim_policy}). It copies the "
        "pages that are still valid into an open block and erases the victim. The copies are "
        "page programs that the host did not ask for: write amplification.",
    ),
    "trim": (
        "TRIM",
        "A trim tells the drive that the host no longer needs some units. The map forgets them "
        "and their pages become invalid, so that the next victims hold fewer pages to copy.",
    ),
    "wear": (
        "Wear levelling",
        "The host now writes a few units over and over. Blocks with data that nobody overwrites "
        "are never erased while the others wear. Dynamic wear levelling opens the least worn free "
        "block; static wear levelling {static} moves cold data out of the least worn block, so "
        "that it wears too.",
    ),
}
"""Title and text of each part of the recording."""

_REASONS = {
    "garbage": "Garbage collection chooses block {block} as victim",
    "leveling": "Static wear levelling chooses block {block} as victim",
    "folding": "Block {block} is to be folded out of the SLC cache",
    "retiring": "Block {block} is failing and is emptied",
}


def in_words(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return the record with chapters, and with a text for every step."""
    drive, steps = record["drive"], record["steps"]
    told = [
        {**step, "text": _text(step, steps[number - 1] if number else None, drive)}
        for number, step in enumerate(steps)
    ]
    for first, last in _long_commands(steps):
        told[last]["text"] += f" {_in_all(steps[first - 1], steps[last], drive)}"
    return {"drive": drive, "chapters": _chapters(drive, steps), "steps": told}


def _long_commands(steps: Sequence[ExplainedStep]) -> list[tuple[int, int]]:
    """First and last step of each command that takes several."""
    starts = [number for number, step in enumerate(steps) if step["commands"]]
    ends = [*(start - 1 for start in starts[1:]), len(steps) - 1]
    return [(first, last) for first, last in zip(starts, ends, strict=True) if last > first]


def _in_all(before: ExplainedStep, after: ExplainedStep, drive: ExplainedDrive) -> str:
    written, pages = (
        after["counters"][name] - before["counters"][name]
        for name in ("host_bytes_written", "nand_pages_written")
    )
    return (
        f"For the {written} B of this write the drive has programmed {plural(pages, 'page')}, "
        f"{pages * drive['page_bytes']} B."
    )


def _chapters(drive: ExplainedDrive, steps: Sequence[ExplainedStep]) -> list[dict[str, Any]]:
    firsts: dict[str, int] = {}
    for number, step in enumerate(steps):
        firsts.setdefault(step["chapter"], number)
    cycles = drive["static_wear_cycles"]
    static = "(off here)" if cycles is None else f"(beyond a difference of {cycles} erases)"
    return [
        {
            "name": name,
            "title": CHAPTERS[name][0],
            "about": CHAPTERS[name][1].format(
                victim_policy=f"policy: {drive['victim_policy']}", static=static
            ),
            "first": first,
        }
        for name, first in firsts.items()
    ]


def _text(step: ExplainedStep, before: ExplainedStep | None, drive: ExplainedDrive) -> str:
    if before is None:
        pages = drive["blocks"] * drive["pages_per_block"]
        return (
            f"All {drive['blocks']} blocks are erased: {pages} pages are free. The map is empty; "
            f"the host sees {drive['units']} logical units."
        )
    if step["command"] is None:
        return _several(step, before)
    sentences = [_command(step["command"], drive)] if step["commands"] else []
    return " ".join([*sentences, *_happened(step, before, drive)])


def _several(step: ExplainedStep, before: ExplainedStep) -> str:
    """Tell of many writes at once, by what the counters say."""

    def counted(*names: str) -> int:
        return sum(int(step["counters"][name] - before["counters"][name]) for name in names)

    moved = counted("gc_pages_moved", "wear_leveling_pages_moved")
    programmed = plural(counted("nand_pages_written"), "page")
    copies = f", {moved} of them copies of valid pages" if moved else ""
    erased = counted("blocks_erased")
    erases = f"erases {plural(erased, 'block')}" if erased else "erases no block"
    return (
        f"The host sends {plural(step['commands'], 'more write')}, one unit each. "
        f"The drive programs {programmed}{copies}, and {erases}."
    )


def _command(command: Mapping[str, Any], drive: ExplainedDrive) -> str:
    units, per_unit = command["units"], drive["page_bytes"] // drive["sector_bytes"]
    if command["operation"] == "trim":
        return f"The host trims units {units[0]} to {units[-1]}."
    if command["sectors"] == per_unit and len(units) == 1:
        return f"The host writes unit {units[0]}."
    named = " and ".join(f"a part of unit {unit}" for unit in units)
    return f"The host writes {command['sectors']} sectors from sector {command['lba']}: {named}."


def _happened(step: ExplainedStep, before: ExplainedStep, drive: ExplainedDrive) -> list[str]:
    """Tell what happened, all trimmed units in one sentence."""
    happened = step["happened"]
    if not happened:
        return ["Nothing changes in flash."]
    trimmed = sum(each["what"] == "trim" for each in happened)
    sentences = [_one(each, step, before, drive) for each in happened if each["what"] != "trim"]
    if trimmed:
        sentences.append(
            f"The map forgets {plural(trimmed, 'unit')}, and as many pages become invalid. "
            "Nothing is programmed or erased."
        )
    return sentences


def _one(
    happening: Mapping[str, Any], step: ExplainedStep, before: ExplainedStep, drive: ExplainedDrive
) -> str:
    what = happening["what"]
    if what == "read":
        units = plural(happening["units"], "unit")
        return f"The drive reads {units} first, because the write covers only a part of each."
    if what == "erase":
        return _erase(happening["block"], step, before)
    if what == "victim":
        return _victim(happening, step, drive)
    unit, place = happening["unit"], _place(happening["page"], drive)
    if what == "move":
        return f"Unit {unit} is copied from {_place(happening['was'], drive)} to {place}."
    if happening["was"] is None:
        return f"Unit {unit} goes to {place}."
    return f"Unit {unit} goes to {place}; {_place(happening['was'], drive)} becomes invalid."


def _erase(block: int, step: ExplainedStep, before: ExplainedStep) -> str:
    erases = step["blocks"][block]["erases"]
    if before["blocks"][block]["state"] == "collecting":
        return f"Block {block} is erased, and its pages are free. Its erase count is now {erases}."
    return (
        f"Block {block} holds no valid page and is erased at once, without a copy. "
        f"Its erase count is now {erases}."
    )


def _victim(happening: Mapping[str, Any], step: ExplainedStep, drive: ExplainedDrive) -> str:
    block, valid = happening["block"], happening["valid"]
    chosen = _REASONS[happening["reason"]].format(block=block)
    held = f"{valid} of its {drive['pages_per_block']} pages are valid and have to be copied"
    if happening["reason"] != "leveling":
        return f"{chosen}: {held}."
    most = max(each["erases"] for each in step["blocks"])
    return (
        f"{chosen}: it was {_erased(step['blocks'][block]['erases'])}, the most worn block was "
        f"{_erased(most)}. {held[0].upper()}{held[1:]}."
    )


def _place(page: int, drive: ExplainedDrive) -> str:
    block, place = divmod(page, drive["pages_per_block"])
    return f"page {place} of block {block}"


def _erased(times: int) -> str:
    return {0: "never erased", 1: "erased once"}.get(times, f"erased {times} times")
