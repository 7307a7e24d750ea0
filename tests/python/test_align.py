"""Alignment: the figures of the documents, arithmetic by hand, and plain counting."""

from __future__ import annotations

import random
from math import lcm

import pytest

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine import align
from ssdlab.machine.align import (
    Array,
    FileSystem,
    Geometry,
    Grid,
    LayerFinding,
    Layout,
    Partition,
    Unit,
)
from ssdlab.machine.align.grid import DEFAULT_UNITS, read_unit, track_units
from ssdlab.machine.align.layout import first_extent, luks1_payload
from ssdlab.machine.align.notation import decimal_text, in_all_units, parse_geometry, parse_position
from ssdlab.machine.align.places import WRITE_SIZES, Offsets, spots, straddles
from ssdlab.machine.align.reading import from_options, from_text
from ssdlab.machine.align.rule import Judgement

SECTOR = 512
MIB = 2**20
GEOMETRY = Geometry()
TRACKS = Grid((*DEFAULT_UNITS, *track_units(GEOMETRY, track=True, cylinder=False)))


def layout(*options: str) -> Layout:
    return from_options(options, GEOMETRY)


def judged(*options: str, grid: Grid | None = None) -> Judgement:
    return align.verdict(align.check(layout(*options), grid or Grid()))


def verdict(*options: str, grid: Grid | None = None) -> bool:
    return judged(*options, grid=grid) is not Judgement.MISALIGNED


@pytest.mark.parametrize(
    ("sector", "fits_mib", "fits_track"),
    [(63, False, True), (21030912, True, True), (129024, True, True), (2048, True, False)],
)
def test_starts_of_the_documents(sector: int, fits_mib: bool, fits_track: bool) -> None:
    """63 is a track but no MiB, 21030912 and 129024 are both, Windows' 2048 is no track."""
    found = {
        each.unit.name: each.aligned
        for each in align.check(layout(f"partition:start_sector={sector}"), TRACKS)
    }
    assert found["1 MiB"] == found["4 KiB page"] == fits_mib
    assert found["track of 63 sectors"] == fits_track
    assert verdict(f"partition:start_sector={sector}") == fits_mib


def test_boundaries_of_the_script() -> None:
    """1 MiB and 63 sectors meet every 129024 sectors, 2048 tracks, 66060288 bytes."""
    around = align.boundaries(0, TRACKS)
    assert (around.fits, around.previous, around.next) == (True, 0, 66060288)
    assert in_all_units(around.next, GEOMETRY)["tracks"] == 2048
    wanted = align.boundaries(10 * 2**30, TRACKS)
    assert wanted.previous is not None
    assert wanted.previous // SECTOR == 162 * 129024
    assert wanted.next // SECTOR == 21030912


def test_cylinders_of_two_geometries() -> None:
    """224 heads and 56 sectors make cylinders of 49 x 128 KiB; those of 255 x 63 fit no page."""
    suited = parse_geometry("224x56", SECTOR)
    assert suited.cylinder_bytes == 49 * 128 * 2**10
    usual = track_units(GEOMETRY, track=False, cylinder=True)
    assert Grid((read_unit("128KiB", GEOMETRY), *usual)).step_bytes == 256 * 16065 * SECTOR


def test_label_in_a_slice() -> None:
    """In a slice at 63 a label at 1985 begins at byte 1048576, one at 1984 is a sector off."""
    slice_of = "partition:start_sector=63"
    findings = align.check(layout(slice_of, "label:start_sector=1985"), Grid())
    assert findings[-1].drive_byte == 1048576
    assert not findings[0].aligned and not findings[0].decides
    assert verdict(slice_of, "label:start_sector=1985", "filesystem:type=ufs")
    assert not verdict(slice_of, "label:start_sector=1984", "filesystem:type=ufs")
    assert align.boundaries(0, Grid(), inside=63 * SECTOR).next == 1985 * SECTOR
    assert align.boundaries(0, Grid(), inside=63 * SECTOR).previous is None


def test_headers() -> None:
    """Where cryptsetup 2.6.1 and LVM put the payload, as they say themselves."""
    assert [luks1_payload(bits, 8) // SECTOR for bits in (128, 256, 512)] == [1032, 2056, 4040]
    assert [luks1_payload(bits) // SECTOR for bits in (128, 256, 512)] == [2048, 4096, 4096]
    assert [luks1_payload(bits, 256) // SECTOR for bits in (256, 512)] == [2304, 4096]
    assert first_extent(250 * 2**10, 64 * 2**10) == 256 * 2**10
    assert first_extent(0, MIB) == MIB


def test_stack_of_the_documents() -> None:
    """align-payload 256 and metadatasize 250k keep data on 128 KiB, from a cylinder of 224 x 56."""
    grid = Grid((read_unit("128KiB", GEOMETRY),))
    start = parse_geometry("224x56", SECTOR).cylinder_bytes
    crypt = "crypt:format=luks1,align_payload=256"
    lvm = "lvm:metadatasize=250k,data_alignment=64KiB"
    stack = (f"partition:start={start}B", crypt, lvm, "filesystem:type=ext4")
    assert verdict(*stack, grid=grid)
    last = align.check(layout(*stack), grid)[-1]
    assert last.drive_byte == start + 2 * MIB + 256 * 2**10
    assert not verdict("partition:start_sector=63", *stack[1:], grid=grid)
    unaligned = "crypt:format=luks1,align_payload=8,key_bits=512"
    assert not verdict(stack[0], unaligned, *stack[2:], grid=grid)


def test_what_straddles_at_sector_63() -> None:
    """A quarter of 1 KiB writes cross a page, all of 4 KiB and more do, none of 512 B."""
    page = align.check(layout("partition:start_sector=63"), Grid())[0]
    shares = {each.write_bytes: each.share for each in page.straddling}
    assert shares == {1024: 0.25, 2048: 0.5, **{size: 1 for size in WRITE_SIZES[3:]}}


def test_straddling_is_what_counting_finds() -> None:
    """The share of writes that cross a boundary too many, against counting a whole period."""
    chance = random.Random(1)
    for _ in range(300):
        unit = chance.choice([4096, 8192, 24 * 1024, 192 * 1024, MIB])
        start = chance.randrange(4096) * SECTOR
        found = {each.write_bytes: each.share for each in straddles(Offsets(start), unit)}
        size = chance.choice([*WRITE_SIZES, unit])
        places = [start + n * size for n in range(lcm(size, unit) // size)]
        fewest = sum(_crossed(n * size, size, unit) for n in range(len(places)))
        extra = sum(_crossed(place, size, unit) for place in places) - fewest
        assert found.get(size, 0) == pytest.approx(extra / len(places))


def _crossed(place: int, size: int, unit: int) -> int:
    return (place + size - 1) // unit - place // unit


def test_worst_remainder_is_what_counting_finds() -> None:
    """The largest remainder over all places, against trying them."""
    chance = random.Random(2)
    for _ in range(300):
        unit, step = (chance.randrange(1, 400) * SECTOR for _ in range(2))
        start = chance.randrange(4000) * SECTOR
        tried = [(start + n * step) % unit for n in range(unit // SECTOR)]
        places = Offsets(start, step)
        assert places.worst_remainder(unit) == max(tried)
        assert places.fits(unit) == (max(tried) == 0)
        assert Offsets(start).worst_remainder(unit) == start % unit


def test_boundaries_are_the_nearest() -> None:
    """No boundary lies between the wanted place and those found, and both fit every unit."""
    chance = random.Random(3)
    for _ in range(200):
        sizes = [chance.randrange(1, 30) * SECTOR for _ in range(chance.randrange(1, 4))]
        grid = Grid(tuple(Unit(str(size), size) for size in sizes))
        wanted, inside = chance.randrange(10**7), chance.randrange(100) * SECTOR
        around = align.boundaries(wanted, grid, inside)
        assert around.next - wanted <= grid.step_bytes
        assert around.fits == (around.previous == wanted)
        assert around.previous is None or wanted - around.previous < grid.step_bytes
        for place in {around.next, around.next if around.previous is None else around.previous}:
            assert all((place + inside) % size == 0 for size in sizes)


def test_places_above_an_array_are_where_dealing_chunks_puts_them() -> None:
    """The byte on the member, against dealing out chunks one after another."""
    chance = random.Random(4)
    for _ in range(100):
        disks, chunk = chance.randrange(2, 7), chance.choice([4, 24, 64]) * 2**10
        array = Array("0", disks, chunk, start=chance.randrange(10) * SECTOR)
        inner = chance.randrange(1000) * SECTOR
        placed = spots(Layout((array, Partition(inner), FileSystem())))
        dealt = [0] * disks
        for number in range(inner // chunk):
            dealt[number % disks] += chunk
        member = dealt[inner // chunk % disks] + inner % chunk
        assert placed[-1].drive.start == array.start + member
        assert placed[-1].within.start == inner


def test_array_decides_by_its_stripe_where_there_is_parity() -> None:
    """4 MiB extents do not fit a stripe of 3 x 64 KiB: not good practice with parity.

    Single pages fit, so it is no more than that; with RAID 0 chunks are enough.
    """
    stack = ("partition:start=1MiB", "raid:level={},disks={},chunk=64KiB", "lvm", "filesystem")
    with_parity = [each.format(5, 4) for each in stack]
    assert judged(*with_parity) is Judgement.NOT_GOOD_PRACTICE
    assert judged(*(each.format(0, 3) for each in stack)) is Judgement.ALIGNED
    fitted = [
        each if each != "lvm" else "lvm:pe_start=192KiB,extent=4224KiB" for each in with_parity
    ]
    assert judged(*fitted) is Judgement.ALIGNED


def test_what_the_file_system_was_told() -> None:
    """Stripe unit and width have to be those of the array, not multiples of them."""
    array = "raid:level=6,disks=6,chunk=128KiB,data_offset=1MiB"
    told = "filesystem:type=xfs,stripe_unit={},stripe_width={}"
    assert verdict(array, told.format("128KiB", "512KiB"))
    assert not verdict(array, told.format("64KiB", "512KiB"))
    wrong = align.check(layout(array, told.format("128KiB", "1MiB")), Grid())
    assert "512 KiB, not 1 MiB" in wrong[-1].remedy


def test_remedies_are_remedies() -> None:
    """Doing what the first remedy says, over and over, ends in a layout that fits."""
    stack = {
        "partition": "partition:start_sector=63",
        "luks1": "crypt:format=luks1,key_bits=128,align_payload=8",
        "LVM": "lvm:pe_start=192KiB",
    }
    for _ in range(4):
        findings = align.check(layout(*stack.values()), Grid())
        wrong = [each for each in findings if not each.aligned]
        if not wrong:
            break
        _mend(stack, next(each for each in wrong if "put that right" not in each.remedy))
    assert verdict(*stack.values())
    assert "63" not in stack["partition"]


def _mend(stack: dict[str, str], finding: LayerFinding) -> None:
    words = finding.remedy.replace(",", "").split()
    name = finding.name.split()[0]
    number = next(word for word in words if word.rstrip("k").isdecimal())
    stack[name] = {
        "partition": f"partition:start_sector={number}",
        "luks1": f"crypt:format=luks1,payload_sector={number}",
        "LVM": f"lvm:pe_start={number}",
    }[name]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("63s", 32256),
        ("1MiB", MIB),
        ("1m", MIB),
        ("64K", 65536),
        ("480GB", 480 * 10**9),
        ("512B", 512),
        ("2trk", 64512),
        ("1cyl", 16065 * SECTOR),
        ("0", 0),
        ("1.5 MiB", 1572864),
    ],
)
def test_any_unit(text: str, expected: int) -> None:
    """Sectors, bytes, binary and decimal units, tracks and cylinders."""
    assert parse_position(text, "START", GEOMETRY) == expected


@pytest.mark.parametrize(
    "text", ["63", "", "MiB", "-1MiB", "1 apple", "0.3B", "9" * 30 + "s", "1e3"]
)
def test_bare_and_odd_numbers_are_refused(text: str) -> None:
    """63 may be sectors or bytes; what is no size says what one looks like."""
    with pytest.raises(SsdlabError, match="START"):
        parse_position(text, "START", GEOMETRY)


def test_rounded_figures_say_so() -> None:
    """What is not exact is marked."""
    assert decimal_text(1016320, MIB) == "~0.969"
    assert decimal_text(1572864, MIB) == "1.5"


WRONG = {
    "partition:start_sektor=63": "did you mean start_sector?",
    "partition": "start is missing",
    "partition:start=63": "write a number and its unit",
    "partition:start=1000B": "whole number of 512-byte sectors",
    "partition:start=1MiB,start_sector=2048": "say the same",
    "partition:start": "expected KIND:KEY=VALUE",
    "patrition:start=1MiB": "did you mean partition",
    "raid:level=5,disks=2": "expected 3 to 1024",
    "raid:level=7": "7 is unknown; choose from 0, 1",
    "raid:level=10,disks=5": "give an even number",
    "raid:level=1,chunk=64KiB": "RAID 1 has none",
    "raid:level=5,chunk=1000B": "whole number of 512-byte sectors",
    "crypt:format=luks3": "luks3 is unknown",
    "crypt:key_bits=256": "format=luks1",
    "lvm:pe_start=1MiB,metadatasize=250k": "pe_start is given",
    "filesystem:type=ext4,ashift=12": "it is for type=zfs",
    "filesystem:type=zfs,ashift=17": "expected 9 to 16",
}


@pytest.mark.parametrize(("option", "said"), WRONG.items())
def test_wrong_layers(option: str, said: str) -> None:
    """The message names the option, the value and the remedy."""
    with pytest.raises(SsdlabError) as caught:
        layout(option)
    assert said in str(caught.value)


def test_files() -> None:
    """The same layout from options, TOML and JSON; nothing unknown is passed over."""
    toml = (
        'drive = "theory"\n[[layer]]\nkind = "partition"\nstart_sector = 63\n'
        '[[layer]]\nkind = "raid"\nlevel = 5\ndisks = 4\nchunk_bytes = 65536\n'
    )
    json = (
        '{"drive": "theory", "layer": [{"kind": "partition", "start": "63s"}, '
        '{"kind": "raid", "level": "5", "disks": 4, "chunk": "64KiB"}]}'
    )
    found = from_text(toml, "a.toml", GEOMETRY)
    assert found == from_text(json, "a.json", GEOMETRY)
    assert found.layers == layout("partition:start=63s", "raid:level=5,disks=4,chunk=64k").layers
    for wrong in ("x", "layers = []", "layer = 3", "layer = [3]", "drive = 3", "", "{" * 9000):
        with pytest.raises(SsdlabError, match=r"layout f\.toml"):
            from_text(wrong, "f.toml", GEOMETRY)
