"""Recorded listings of many programs and versions: right values, and that nothing vanishes."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable

import pytest

from listing_files import FOLDER, RIGHT, text_of
from real_listings import REAL
from ssdlab.cli.align_listing import answer_of
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit
from ssdlab.machine.align import Grid
from ssdlab.machine.align.listings import READERS, Listing, judge, read_listing

Command = Callable[..., tuple[int, str, str]]
TEXTS = {
    **{name: text_of(name) for name in RIGHT if not name.endswith(".json")},
    **{name: real.text for name, real in REAL.items()},
}
JSONS = {name: text_of(name) for name in RIGHT if name.endswith(".json")}
LSBLK = {
    "blockdevices": [
        {
            "name": "sda",
            "type": "disk",
            "size": 2**40,
            "children": [{"name": "sda1", "type": "part", "start": 2048, "size": 2**30}],
        }
    ]
}
UNKNOWN = (
    "xyzzy 2048 4095 frotz",
    "   9 what is this",
    "/dev/zzz9 ? 17 42 odd",
    "Frobnication = 7 furlongs",
    "?????",
    "99 bottles of beer on 2048 walls",
    "12 34 56",
    "Bad sectors on partition 3: 63",
    "# 7 2048 4096",
    "|    2 | 63 | 4096 |",
)
PLACES = 3


def answer(text: str) -> tuple[Exit, Listing]:
    """Read and judge a listing; one that is refused is wrong input."""
    try:
        listing = read_listing(text, "pasted")
    except SsdlabError:
        return Exit.WRONG_INPUT, Listing((), ())
    return answer_of(listing, judge(listing, Grid())), listing


def quotes(listing: Listing, row: str) -> bool:
    """Whether a row is among what was not understood."""
    return any(each.quoted.strip() == row.strip() for each in listing.unread)


def test_every_file_has_its_right_values() -> None:
    """No file is without one, and none is missing."""
    assert {each.name for each in FOLDER.iterdir()} == RIGHT.keys()


@pytest.mark.parametrize("name", RIGHT)
def test_right_values(name: str) -> None:
    """Starts and verdict of each listing are what was worked out by hand."""
    right = RIGHT[name]
    found, listing = answer(text_of(name))
    judged = [each for disk in judge(listing, Grid()) for each in disk.judged]
    places = [each.listed.start.byte for each in judged]
    assert sorted(places, key=str) == sorted(
        (None if each is None else each * 512 for each in right.starts), key=str
    )
    assert (found, len(listing.unread)) == (right.exit, right.quoted)
    assert listing.read_as


@pytest.mark.parametrize("name", TEXTS)
def test_an_unknown_row_does_not_vanish(name: str) -> None:
    """Wherever it stands, it is quoted, and the answer is not that all is well."""
    lines = TEXTS[name].splitlines()
    chance = random.Random(name)
    for row in UNKNOWN:
        for place in {0, len(lines), *(chance.randrange(len(lines)) for _ in range(PLACES))}:
            found, listing = answer("\n".join([*lines[:place], row, *lines[place:]]))
            assert found is not Exit.DONE, (row, place)
            assert quotes(listing, row), (row, place)


@pytest.mark.parametrize("name", TEXTS)
def test_a_spoiled_row_does_not_vanish(name: str) -> None:
    """A partition's row whose start, or all of whose numbers, cannot be read is quoted."""
    lines = TEXTS[name].splitlines()
    _, listing = answer(TEXTS[name])
    rows = {each.line for disk in listing.disks for each in disk.partitions if each.line}
    for number in rows:
        row = lines[number - 1]
        for spoiled in re.sub(r"\d", "x", row), re.sub(r"(?<!\S)\d+(?!\S)", "??", row):
            if spoiled == row:
                continue
            changed = [*lines[: number - 1], spoiled, *lines[number:]]
            found, other = answer("\n".join(changed))
            assert found is not Exit.DONE, spoiled
            shown = [each.quoted for disk in other.disks for each in disk.partitions]
            assert found is Exit.WRONG_INPUT or other.unread or spoiled in shown, spoiled


UNITS = (
    (r"(?i)^(.*\bunits?\b.*?)(sectors|cylinders|blocks|mebibytes)", r"\1furlongs"),
    (r"(= ?)\d+( bytes)$", r"\g<1>777\2"),
    (r"(?i)^(.*sector.?size.*?)\d+", r"\g<1>777"),
    (r"(?<=\d)(kiB|KiB|MiB|kB|MB|GB|KB)\b", "Qx"),
    (r"(?<=\d)s(?=\s|:)", "q"),
    (r"version \d+[.\d]*", "version 77.7"),
    (r"util-linux 2", "util-linux 77"),
)


@pytest.mark.parametrize("name", TEXTS)
def test_an_unknown_unit_or_version_is_said(name: str) -> None:
    """A line whose unit or version was changed is quoted, or refused; nothing is judged by it."""
    lines = TEXTS[name].splitlines()
    for pattern, instead in UNITS:
        for place, line in enumerate(lines):
            changed = re.sub(pattern, instead, line)
            if changed == line:
                continue
            found, listing = answer("\n".join([*lines[:place], changed, *lines[place + 1 :]]))
            assert found is not Exit.DONE, changed
            assert found is Exit.WRONG_INPUT or listing.unread, changed


@pytest.mark.parametrize("name", [*JSONS, "lsblk"])
def test_an_unknown_field_of_json_does_not_vanish(name: str) -> None:
    """In every object it is quoted, with its path."""
    whole = json.dumps(LSBLK) if name == "lsblk" else JSONS[name]
    count = _spoil(json.loads(whole), -1)
    assert count > 1
    for place in range(count):
        root = json.loads(whole)
        _spoil(root, place)
        found, listing = answer(json.dumps(root))
        assert found is not Exit.DONE
        assert any("frobnicated" in each.where + each.quoted for each in listing.unread), place


def _spoil(node: object, place: int, seen: int = 0) -> int:
    """Put an unknown key into one object of a tree; count the objects."""
    if isinstance(node, dict):
        if seen == place:
            node["frobnicated"] = "by 63 sectors"
        seen += 1
        for key in list(node):
            seen = _spoil(node[key], place, seen)
    elif isinstance(node, list):
        for each in node:
            seen = _spoil(each, place, seen)
    return seen


@pytest.mark.parametrize("name", [each for each in TEXTS if each in RIGHT])
def test_two_listings_in_one(name: str) -> None:
    """What follows another program's listing is read by its own reader."""
    other = TEXTS["03-gdisk-hybrid-mac.txt"]
    found, listing = answer(f"{TEXTS[name]}\n{other}")
    judged = sum(len(disk.judged) for disk in judge(listing, Grid()))
    assert judged == len(RIGHT[name].starts) + 5
    assert found in (Exit.FINDING, Exit.ATTENTION) and len(listing.read_as) in (1, 2, 3)


def test_a_listing_cut_after_its_heading() -> None:
    """The heading of rows that are not there is quoted, whichever tool printed it."""
    cut = 0
    for name in TEXTS:
        lines = TEXTS[name].expandtabs().splitlines()
        heads = [at for at, line in enumerate(lines) if heads_rows(line)]
        if heads:
            _, listing = answer("\n".join(lines[: heads[-1] + 1]))
            assert quotes(listing, lines[heads[-1]]), name
            cut += 1
    assert cut >= 60


def heads_rows(line: str) -> bool:
    """Whether some reader takes a line for a heading of rows."""
    for reader in READERS:
        found = (each for each in reader.rules if each.pattern.fullmatch(line.strip()))
        rule = next(found, None)
        if rule is not None and rule.heads:
            return True
    return False
