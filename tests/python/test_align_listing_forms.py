"""``ssdlab align check`` of a listing: forms, what rounding hides, exit codes, refusals."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from listing_files import FOLDER
from real_listings import REAL
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit
from ssdlab.machine.align import Grid
from ssdlab.machine.align.grid import read_unit, track_units
from ssdlab.machine.align.listings import Start, is_listing, judge, read_listing
from ssdlab.machine.align.notation import Geometry
from ssdlab.machine.align.rule import Judgement

Command = Callable[..., tuple[int, str, str]]

CYLINDERS = """Disk /dev/sda: 80.0 GB, 80026361856 bytes
255 heads, 63 sectors/track, 9729 cylinders
Units = cylinders of 16065 * 512 = 8225280 bytes

   Device Boot      Start         End      Blocks   Id  System
/dev/sda1   *           1          13      104391   83  Linux
/dev/sda2              14        9729    78043770   8e  Linux LVM
"""
SECTORS_OF_4096 = """Disk /dev/nvme0n1: 1.8 TiB, 2000398934016 bytes, 488378646 sectors
Units: sectors of 1 * 4096 = 4096 bytes
Sector size (logical/physical): 4096 bytes / 4096 bytes
I/O size (minimum/optimal): 4096 bytes / 4096 bytes

Device          Start       End   Sectors  Size Type
/dev/nvme0n1p1    256    131327    131072  512M EFI System
/dev/nvme0n1p2 131328 488378367 488247040  1.8T Linux filesystem
"""
LSBLK = json.dumps(
    {
        "blockdevices": [
            {
                "name": "sda",
                "type": "disk",
                "start": None,
                "size": 480103981056,
                "log-sec": 512,
                "phy-sec": 4096,
                "opt-io": 0,
                "children": [
                    {"name": "sda1", "type": "part", "start": 2048, "size": 1073741824},
                    {
                        "name": "sda2",
                        "type": "part",
                        "start": 2099263,
                        "size": 1048576,
                        "children": [{"name": "home", "type": "crypt", "size": 1}],
                    },
                ],
            }
        ]
    }
)
SFDISK = json.dumps(
    {
        "partitiontable": {
            "label": "dos",
            "device": "/dev/vda",
            "unit": "sectors",
            "sectorsize": 512,
            "partitions": [
                {"node": "/dev/vda1", "start": 63, "size": 65536, "type": "83"},
                {"node": "/dev/vda2", "start": 2048, "size": 65536, "type": "5"},
            ],
        }
    }
)
PARTED_FOR_PROGRAMS = """BYT;
/dev/sda:480103981056B:scsi:512:4096:gpt:ATA A DRIVE:;
1:1048576B:1074790399B:1073741824B:fat32::boot, esp;
2:1074823168B:480103964671B:479029141504B:ext4::;
"""
FDISK_OF_MACOS = """Disk: /dev/disk0	geometry: 60801/255/63 [976773168 sectors]
Signature: 0xAA55
         Starting       Ending
 #: id  cyl  hd sec -  cyl  hd sec [     start -       size]
------------------------------------------------------------------------
 1: EE    0   0   2 - 1023 254  63 [         1 -  976773167] <Unknown ID>
"""
DISKPART = """DISKPART> list partition

  Partition ###  Type              Size     Offset
  -------------  ----------------  -------  -------
  Partition 1    Primary            100 MB  {}
"""
DETAIL = """Partition 1
Type  : 07
Hidden: No
Active: Yes
Offset in Bytes: 32256

  Volume ###  Ltr  Label        Fs     Type        Size     Status     Info
  ----------  ---  -----------  -----  ----------  -------  ---------  --------
* Volume 1     C                NTFS   Partition    233 GB  Healthy    System
"""
POWERSHELL = """   DiskPath: \\\\?\\scsi#disk

PartitionNumber  DriveLetter Offset                                        Size Type
---------------  ----------- ------                                        ---- ----
1                            1048576                                     100 MB System
2                            105906176                                    16 MB Reserved
3                C           122683392                                 237.84 GB Basic
"""
POWERSHELL_LIST = """
PartitionNumber      : 1
DriveLetter          :
DiskNumber           : 0
Offset               : 32256
Size                 : 104857600
Type                 : IFS

PartitionNumber      : 2
DriveLetter          : C
DiskNumber           : 0
Offset               : 122683392
Size                 : 255375441920
Type                 : Basic
"""
WMIC = """Name                   Size          StartingOffset
Disk #0, Partition #0  104857600     1048576
Disk #0, Partition #1  249950109696  105906176
"""
WMI_TABLE = """Name                  StartingOffset
----                  --------------
Disk #0, Partition #0        1048576
Disk #0, Partition #1      105906176
"""
MSINFO = """Partition	Disk #0, Partition #0
Partition Size	233.76 GB (250,999,201,792 bytes)
Partition Starting Offset	32,256 bytes
"""
EXACT = {
    "fdisk of 4096-byte sectors": (SECTORS_OF_4096, [2**20, 513 * 2**20], True),
    "lsblk": (LSBLK, [2**20, 2099263 * 512], False),
    "sfdisk -J": (SFDISK, [63 * 512, 2**20], False),
    "parted -m": (PARTED_FOR_PROGRAMS, [2**20, 1074823168], False),
    "detail partition": (DETAIL, [32256], False),
    "Get-Partition": (POWERSHELL, [2**20, 101 * 2**20, 117 * 2**20], True),
    "Get-Partition | Format-List": (POWERSHELL_LIST, [32256, 117 * 2**20], False),
    "wmic": (WMIC, [2**20, 101 * 2**20], True),
    "Win32_DiskPartition as a table": (WMI_TABLE, [2**20, 101 * 2**20], True),
    "msinfo32": (MSINFO, [32256], False),
}


@pytest.mark.parametrize(("text", "starts", "fits"), EXACT.values(), ids=list(EXACT))
def test_form(text: str, starts: list[int], fits: bool) -> None:
    """Each form gives every start to the byte, and one verdict a drive."""
    (disk,) = judge(read_listing(text, "pasted"), Grid())
    assert [each.listed.start.byte for each in disk.partitions] == starts
    assert (disk.judgement is Judgement.ALIGNED) is fits


def test_the_drive_itself() -> None:
    """Sector size, physical sector and capacity come from the line of the whole drive."""
    disk = read_listing(LSBLK, "pasted").disks[0]
    assert (disk.sector_bytes, disk.physical_bytes, disk.capacity) == (512, 4096, 480103981056)
    disk = read_listing(SECTORS_OF_4096, "pasted").disks[0]
    assert (disk.sector_bytes, disk.capacity) == (4096, 2000398934016)
    listing = read_listing(SECTORS_OF_4096, "pasted")
    assert judge(listing, Grid())[0].grid.geometry.sector_bytes == 4096
    gpart = "=>    40  5242875  ada0  GPT  (20G)\n      256  262144  1  freebsd-ufs  (1.0G)\n"
    disk = read_listing(gpart, "pasted").disks[0]
    assert disk.sector_bytes == 4096 and disk.partitions[0].start.byte == 2**20


def test_cylinders_leave_what_the_end_allows() -> None:
    """104391 blocks that end in cylinder 13 begin at sector 63 at the latest; so 1 MiB is out.

    The second one ends with the drive's last cylinder, which leaves one sector: 13 x 16065.
    """
    (disk,) = judge(read_listing(CYLINDERS, "pasted"), Grid())
    first, second = disk.partitions
    assert (first.listed.start.low, first.listed.start.high) == (512, 63 * 512)
    assert [fits for _, fits in first.fits] == [None, False]
    assert second.listed.start.byte == 13 * 16065 * 512
    assert disk.aligned is False


def test_cylinders_of_today() -> None:
    """util-linux 2.38 lists cylinders without blocks: a start is known to its cylinder only."""
    text = (
        "Units: cylinders of 16065 * 512 = 8225280 bytes\n\nDevice     Start End  Size Type\n"
        "/dev/sda1         1   2   10M Linux filesystem\n"
        "/dev/sda2         3   3    1M Linux filesystem\n"
    )
    counted = text.replace("End ", "End Cylinders ").replace("2   10M", "2 2 10M")
    for listing in text, counted.replace("3    1M", "3 1 1M"):
        (disk,) = judge(read_listing(listing, "pasted"), Grid())
        second = disk.partitions[1].listed.start
        assert (second.low, second.high) == (2 * 16065 * 512, (3 * 16065 - 1) * 512)
        assert [each.aligned for each in disk.partitions] == [None, None]


def test_every_drive_has_its_own_sectors() -> None:
    """In Chinese too, whose colons have no space behind them: 256 sectors are 1 MiB, or 128 KiB."""
    disk = "Disk /dev/{}：1 TiB，1000204886016 字节，9 个扇区\n单元：扇区 / 1 * {} = {} 字节\n"
    row = "/dev/{}1  256 131327 131072 512M EFI\n"
    drives = (("sda", 4096, True), ("sdb", 512, False))
    text = "".join((disk + row.replace("{}", name)).format(name, n, n) for name, n, _ in drives)
    judged = judge(read_listing(text, "pasted"), Grid())
    found = [
        (each.listed.name, each.listed.sector_bytes, each.judgement is Judgement.ALIGNED)
        for each in judged
    ]
    assert found == [(f"/dev/{name}", sector, fits) for name, sector, fits in drives]


def test_parted_in_chinese() -> None:
    """Its full-width colons are colons."""
    text = "磁盘 /dev/sda：480103981056B\n扇区大小 (逻辑/物理)：512B/4096B\n"
    text += " 1 32256B 1048575B 1016320B ext4\n"
    (disk,) = judge(read_listing(text, "pasted"), Grid())
    assert (disk.listed.physical_bytes, disk.aligned) == (4096, False)


def test_free_space_is_no_partition() -> None:
    """parted -m numbers it too, ``print free`` before the first partition."""
    free = PARTED_FOR_PROGRAMS.replace("1:1048576B", "1:17408B:1048575B:1031168B:free;\n1:1048576B")
    assert read_listing(free, "pasted") == read_listing(PARTED_FOR_PROGRAMS, "pasted")


@pytest.mark.parametrize(
    ("shown", "four_kib", "mib"),
    [
        ("31 KB", False, False),
        ("32 KB", None, False),
        ("1024 KB", True, True),
        ("101 MB", None, None),
    ],
)
def test_what_diskpart_hides(shown: str, four_kib: bool | None, mib: bool | None) -> None:
    """32 KB may be sector 63, though 32 is a multiple of 4; 31 KB is none of its neighbours.

    1024 KB are 1 MiB to the listing's precision, which is said; 101 MB may be anything.
    """
    (disk,) = judge(read_listing(DISKPART.format(shown), "pasted"), Grid())
    assert [fits for _, fits in disk.partitions[0].fits] == [four_kib, mib]
    assert disk.partitions[0].as_printed is (shown == "1024 KB")
    if shown == "32 KB":
        assert Start.at(63 * 512).low in _places(disk.partitions[0].listed.start)


def test_bytes_go_before_what_is_rounded() -> None:
    """``detail partition`` after ``list partition`` of the same session tells what was hidden."""
    session = DISKPART.format("32 KB") + "\nPartition 1 is now the selected partition.\n\n" + DETAIL
    (disk,) = judge(read_listing(session, "pasted"), Grid())
    assert [each.listed.start.byte for each in disk.partitions] == [63 * 512]


def test_bytes_are_of_the_disk_that_was_selected() -> None:
    """Partition 1 of one disk says nothing of partition 1 of another."""
    first = "DISKPART> select disk 0\n\n" + DETAIL.replace("32256", "1048576")
    second = "DISKPART> sel dis 1\n\n" + DISKPART.format("31 KB")
    disks = judge(read_listing(f"{first}\n{second}", "pasted"), Grid())
    assert [(each.listed.name, each.aligned) for each in disks] == [
        ("Disk 0", True),
        ("Disk 1", False),
    ]
    both = POWERSHELL + POWERSHELL.replace("scsi#disk", "scsi#other").replace("1048576 ", "32256 ")
    assert [disk.aligned for disk in judge(read_listing(both, "pasted"), Grid())] == [True, False]


def test_a_list_without_a_tree() -> None:
    """``lsblk -l -J``: sdaa1 is a partition of sdaa, not of sda."""
    drives = [{"name": name, "type": "disk", "size": 2**30} for name in ("sda", "sdaa", "nvme0n1")]
    starts = {"sda1": 2048, "sdaa1": 63, "nvme0n1p1": 2048}
    parts = [{"name": name, "type": "part", "start": at} for name, at in starts.items()]
    disks = read_listing(json.dumps({"blockdevices": drives + parts}), "pasted").disks
    assert [[each.name for each in disk.partitions] for disk in disks] == [[n] for n in starts]


MMLS_OF_AN_MBR = """DOS Partition Table
Offset Sector: 0
Units are in 512-byte sectors

      Slot      Start        End          Length       Description
000:  Meta      0000000000   0000000000   0000000001   Primary Table (#0)
001:  -------   0000000000   0000000000   0000000001   Unallocated
002:  000:000   0000000001   0000262143   0000262143   GPT Safety Partition (0xee)
"""
BLKID_OF_AN_MBR = (
    '/dev/sdb1: PART_ENTRY_SCHEME="dos" PART_ENTRY_TYPE="0xee" PART_ENTRY_NUMBER="1" '
    'PART_ENTRY_OFFSET="1" PART_ENTRY_SIZE="262143" PART_ENTRY_DISK="8:16"\n'
)


@pytest.mark.parametrize(
    "text",
    [
        (FOLDER / "06-fdisk-protective-mbr.txt").read_text(),
        FDISK_OF_MACOS,
        MMLS_OF_AN_MBR,
        BLKID_OF_AN_MBR,
    ],
    ids=["fdisk", "fdisk of macOS", "mmls", "blkid"],
)
def test_a_protective_mbr_is_not_the_table(command: Command, text: str) -> None:
    """The partitions are in the GPT, so nothing is judged, and the commands that list it stand."""
    Path("listing.txt").write_text(text)
    code, out, _ = command("align", "check", "listing.txt")
    said = " ".join(out.split())
    assert code == Exit.NOT_JUDGED
    assert "the real table is GPT, and its partitions are not listed" in said
    assert "list them: sgdisk -p DEVICE, or parted DEVICE unit s print; on FreeBSD" in said
    assert "Aligned" not in said and "Misaligned" not in said


FDISK_AT_THE_END = """Disk /dev/sda: 1 GiB, 1073741824 bytes, 2097152 sectors
Units: sectors of 1 * 512 = 512 bytes
Sector size (logical/physical): 512 bytes / 512 bytes

Device     Boot Start     End Sectors Size Id Type
/dev/sda1       {0} {0}       1 512B 83 Linux
"""
LSBLK_AT_THE_END = json.dumps(
    {
        "blockdevices": [
            {"name": "sda", "type": "disk", "size": 2**30, "log-sec": 512}
            | {"children": [{"name": "sda1", "type": "part", "start": "{0}", "size": 512}]}
        ]
    }
).replace('"{0}"', "{0}")


@pytest.mark.parametrize("text", [FDISK_AT_THE_END, LSBLK_AT_THE_END], ids=["fdisk", "lsblk"])
def test_a_start_past_the_end_of_the_device(text: str) -> None:
    """Of a GiB, sector 2097151 is the last: the one behind it is beyond the device, and quoted."""

    def unread(sector: int) -> list[str]:
        listing = read_listing(text.replace("{0}", str(sector)), "pasted")
        assert [each.name for disk in listing.disks for each in disk.partitions] == (
            [] if sector == 2**21 else [listing.disks[0].name + "1"]
        )
        return [each.told() for each in listing.unread]

    (told,) = unread(2**21)
    assert "it begins" in told and "beyond the device of 1073741824 bytes" in told
    assert unread(2**21 - 1) == []


def test_a_label_on_a_mirror() -> None:
    """A slice of any provider is one: 16 sectors in a slice at 63 are sector 79."""
    text = (
        "=> 63 999 mirror/gm0 MBR (500K)\n  63 900 1 freebsd (450K)\n\n"
        "=> 0 900 mirror/gm0s1 BSD (450K)\n  16 800 1 freebsd-ufs (400K)\n"
    )
    (disk,) = read_listing(text, "pasted").disks
    assert disk.partitions[1].start.byte == 79 * 512


def test_a_remedy_fits_every_unit() -> None:
    """Where the start is rounded too: 3 MiB, of 192 KiB and 1 MiB."""
    units = tuple(read_unit(size, Geometry()) for size in ("192KiB", "1MiB"))
    (disk,) = judge(read_listing(DISKPART.format("31 KB"), "pasted"), Grid(units))
    assert disk.partitions[0].remedy == "begin at a multiple of 6144 sectors"


def _places(start: Start) -> range:
    assert start.high is not None
    return range(start.low, start.high + 1, start.step)


def test_fits_is_what_trying_finds() -> None:
    """Yes, no, or not known, against trying every place."""
    chance = random.Random(5)
    for _ in range(400):
        step = chance.choice([1, 512, 4096])
        low = chance.randrange(10**5)
        start = Start(low, low + chance.randrange(40) * step, step)
        unit = chance.choice([512, 1000, 4096, 24 * 1024])
        found = {place % unit == 0 for place in _places(start)}
        assert start.fits(unit) is (found.pop() if len(found) == 1 else None)


def test_stripe_offset_is_a_remainder() -> None:
    """With a stripe of 4096 diskinfo gives the start modulo 4096: no more is claimed."""
    text = "/dev/ada0p2\n\t512\t# sectorsize\n\t4096\t# stripesize\n\t{}\t# stripeoffset\n"
    fits = [
        [fits for _, fits in judge(read_listing(text.format(n), "x"), Grid())[0].partitions[0].fits]
        for n in (0, 512)
    ]
    assert fits == [[True, None], [False, False]]


def test_a_label_knows_no_tracks() -> None:
    """A slice is also held against the track; the label in it is not."""
    grid = Grid((*Grid().units, *track_units(Geometry(), track=True, cylinder=False)))
    (disk,) = judge(read_listing(REAL["a label that puts its slice right"].text, "x"), grid)
    assert disk.aligned
    names = [unit.name for unit, _ in disk.partitions[1].fits]
    assert "track of 63 sectors" not in names


def test_several_drives_in_one_listing() -> None:
    """Each has its own partitions, and none is stacked on another's."""
    both = REAL["two partitions of an old fdisk"].text + REAL["an installer that was mended"].text
    disks = judge(read_listing(both, "pasted"), Grid())
    assert [(disk.listed.name, disk.aligned) for disk in disks] == [
        ("/dev/sdb", False),
        ("/dev/sda", True),
    ]


@pytest.mark.parametrize(
    ("name", "expected", "aligned"),
    [
        ("an installer that was mended", Exit.DONE, True),
        ("a firmware's image", Exit.ATTENTION, True),
        ("two partitions of an old fdisk", Exit.FINDING, False),
        ("parted in round figures", Exit.NOT_JUDGED, None),
    ],
)
def test_exit_codes(
    command: Command,
    golden: Callable[[str, str], None],
    tmp_path: Path,
    name: str,
    expected: Exit,
    aligned: bool | None,
) -> None:
    """All fit, good practice is missed, something is misaligned, the listing does not tell."""
    (tmp_path / "listing").write_text(REAL[name].text)
    code, out, _ = command("align", "check", "listing")
    assert code == expected
    assert ("parted DEVICE unit s print" in out) == (expected == Exit.NOT_JUDGED)
    golden(f"align-listing-{expected.value}", out)
    code, out, _ = command("align", "check", "listing", "--json")
    assert code == expected
    assert json.loads(out)["aligned"] is aligned


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp850"])
def test_encodings_of_windows(command: Command, tmp_path: Path, encoding: str) -> None:
    """PowerShell writes UTF-16; older tools write the letters of a code page."""
    text = POWERSHELL.replace("scsi#disk", "scsi#größe")
    (tmp_path / "listing.txt").write_text(text, encoding=encoding)
    assert command("align", "check", "listing.txt")[0] == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("nothing of use\n", "neither TOML nor JSON"),
        ("nothing of use\n", "nor a listing of fdisk -l"),
        ('{"blockdevices": 3}', "expected a list of devices"),
        ('{"blockdevices": [{"name": "sda", "size": 5}]}', "no partition in it"),
        ('{"partitiontable": {"partitions": 3}}', "with node, start and size"),
        ("\0\0", "not a text file"),
    ],
)
def test_what_is_refused(command: Command, tmp_path: Path, text: str, said: str) -> None:
    """One error names the file, the place, the value and what was expected."""
    (tmp_path / "listing").write_text(text)
    code, out, err = command("align", "check", "listing")
    assert (code, out) == (2, "")
    assert "listing" in err and said in err


@pytest.mark.parametrize(
    ("text", "quoted", "said"),
    [
        (
            LSBLK.replace('"start": 2048', '"start": "x"'),
            "blockdevices[0].children[0].start",
            "list it with: lsblk -J",
        ),
        ('{"partitiontable": {"partitions": [{}]}}', "partitions[0]", "node, start and size"),
        (
            "unit: sectors\nsector-size: 513\n/dev/sda1 : start= 1, size= 9\n",
            "sector-size: 513",
            "sectors of 513 bytes are not known",
        ),
        (
            '{"partitiontable": {"partitions": [{"node": "a", "start": -1, "size": 1}]}}',
            "-1",
            "sfdisk -J",
        ),
        ("/dev/sda1 1 13 104391 83 Linux\n", "83 Linux", "sectors or cylinders?"),
        ("/dev/sda1 * 0+ 12 13- 104391 83 Linux\n", "12 13-", "sectors or cylinders?"),
        ("/dev/sda2 13 121600 121588 976655610 8e Linux LVM\n", "976655610", "or sfdisk -d"),
        (
            f"=> 34 99 ada0 GPT (50K)\n  {'9' * 400} 5 1 freebsd-ufs\n",
            "9" * 100,
            "more than any drive has",
        ),
        (
            f"=> 34 99 ada0 GPT (50K)\n  34 8 1 efi\n=> 34 {'9' * 900} ada1 GPT\n",
            "9" * 100,
            "more than any drive has",
        ),
        (
            "=>  0  99  ada0s1  BSD  (50K)\n    9  9  1  freebsd-ufs\n",
            "9 9 1",
            "list the drive before it",
        ),
        ("/dev/ada0p1\n  512  # sectorsize\n", "/dev/ada0p1", "give all of diskinfo -v"),
        (
            REAL["parted in MiB"].text.replace("2.00MiB", "0.20%"),
            "0.20%",
            "does not say where it begins",
        ),
        ("Offset : 12\nOffset : x\n", "Offset : x", "expected bytes"),
    ],
)
def test_what_is_not_understood(
    command: Command, tmp_path: Path, text: str, quoted: str, said: str
) -> None:
    """A row that makes no sense is quoted with its place and the reason, in text and JSON."""
    (tmp_path / "listing").write_text(text)
    code, out, err = command("align", "check", "listing", "--json")
    answer = json.loads(out)
    assert code in (3, 4) and err == "" and answer["aligned"] is not True
    unread = json.dumps(answer["unread"])
    assert quoted in " ".join(unread.split()) and said in unread
    code, out, err = command("align", "check", "listing")
    assert code in (3, 4) and "is not understood" in out


def test_only_check_reads_listings(command: Command, tmp_path: Path) -> None:
    """Where one partition's layers are needed, a listing is refused with what to give instead."""
    (tmp_path / "listing").write_text(POWERSHELL)
    code, out, err = command("align", "move", "listing")
    assert (code, out) == (2, "")
    assert "only ssdlab align check reads" in err


def test_a_spoiled_listing_is_read_or_refused() -> None:
    """Whatever is cut out or doubled: a list of drives, or an error; never anything else."""
    chance = random.Random(6)
    texts = [each.text for each in REAL.values()] + [text for text, _, _ in EXACT.values()]
    for _ in range(600):
        words = chance.choice(texts).split(" ")
        for _ in range(chance.randrange(1, 6)):
            place = chance.randrange(len(words))
            words[place] = chance.choice(
                ["", "9" * 30, "9" * 400, "9" * 5000, "-1", ":", "1.5", words[place] * 2]
            )
        text = " ".join(words)
        try:
            if is_listing(text):
                judge(read_listing(text, "pasted"), Grid())
        except SsdlabError as error:
            assert "pasted" in str(error)
