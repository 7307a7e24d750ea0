"""Listings that leave a doubt: a drive not read, a table not shown, rows cut, layers not judged."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from listing_files import FOLDER
from ssdlab.ground.exit_codes import Exit
from ssdlab.machine.align.listings import read_listing
from test_align_listing_forms import LSBLK

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize(
    ("row", "listing"),
    [
        ("fdisk: cannot open /dev/sdb: Permission denied", "01-fdisk-centos7-mbr-and-gpt.txt"),
        ("Error: Can't have a partition outside the disk!", "parted-3.5-b-dos.txt"),
    ],
)
def test_a_drive_that_could_not_be_read_is_no_aligned_one(row: str, listing: str) -> None:
    """It is quoted: of what is on it nothing is known."""
    text = (FOLDER / listing).read_text()
    assert row in [each.quoted for each in read_listing(f"{text}\n{row}\n", "pasted").unread]


WARNED = (
    "WARNING: GPT (GUID Partition Table) detected on '/dev/sda'! The util {} doesn't support GPT. "
    "Use GNU Parted.\n"
)
WELL = """Disk /dev/sda: 465.8 GiB, 500107862016 bytes, 976773168 sectors
Units: sectors of 1 * 512 = 512 bytes
Sector size (logical/physical): 512 bytes / 4096 bytes

Device     Boot Start       End   Sectors   Size Id Type
/dev/sda1        2048 976773119 976771072 465.8G 83 Linux
"""
DUMP = """# partition table of /dev/sda
unit: sectors

/dev/sda1 : start=     2048, size=976771072, Id=83
"""
OLD_SFDISK = """Disk /dev/sda: 60801 cylinders, 255 heads, 63 sectors/track
Units = sectors of 512 bytes, counting from 0

   Device Boot    Start       End   #sectors  Id  System
/dev/sda1          2048 976773119  976771072  83  Linux
"""


@pytest.mark.parametrize(
    ("text", "util"),
    [(WELL, "fdisk"), (DUMP, "sfdisk"), (OLD_SFDISK, "sfdisk"), (WELL, "cfdisk")],
    ids=["fdisk", "sfdisk -d", "sfdisk -l", "cfdisk"],
)
def test_a_gpt_that_the_tool_cannot_read(command: Command, text: str, util: str) -> None:
    """The MBR's rows are not the table, wherever the warning stands, and whatever they say."""
    warned = WARNED.format(util)
    moved = text.replace(" 2048 ", " 2047 ").replace(" 2048,", " 2047,")
    other = warned.replace("/dev/sda", "/dev/sdb")
    for given in (warned + text, text + warned, text + other, warned + moved):
        Path("listing.txt").write_text(given)
        code, out, _ = command("align", "check", "listing.txt")
        said = " ".join(out.split())
        assert code == Exit.NOT_JUDGED, given
        assert "list them: sgdisk -p DEVICE" in said
        assert ("Aligned" in said) == ("/dev/sdb" in given)


def test_a_heading_above_no_rows() -> None:
    """fdisk since 2.26 prints none above an empty table, parted a narrow one, others always."""

    def quoted(text: str) -> list[str]:
        return [each.quoted.strip() for each in read_listing(text, "pasted").unread]

    head, _, row = WELL.rstrip("\n").rpartition("\n")
    heading = head.rpartition("\n")[2]
    second = WELL.replace("sda", "sdb")
    assert quoted(f"{WELL}\n{head}\n") == [heading] == quoted(f"{head}\n\n{second}")
    assert quoted(f"{WELL}\n{head.removesuffix(heading)}") == [] == quoted(WELL + second)
    assert row in WELL
    german = head.replace(heading, "Gerät      Boot Anfang Ende Sektoren Größe Kn Typ")
    assert len(quoted(f"{german}\n\n{second}")) == 1
    old = head.replace("  Sectors   Size Id Type", "   Blocks  Id  System")
    assert quoted(f"{old}\n\n{second}") == [] and len(quoted(f"{WELL}\n{old}")) == 1
    parted = (FOLDER / "parted-3.5-s-dos.txt").read_text()
    top = parted[: parted.index("Number")]
    assert quoted(f"{parted}\n{top}Number  Start  End  Size  Type  File system  Flags\n") == []


OFF = "Partition 1 does not start on physical sector boundary.\n"


@pytest.mark.parametrize("text", [f"{WELL}\n{OFF}", OFF + WELL], ids=["behind", "before"])
def test_a_start_that_fdisk_calls_off(text: str) -> None:
    """Where its sector does not bear that out, both are quoted, and it is not judged."""
    listing = read_listing(text, "pasted")
    assert [disk.partitions for disk in listing.disks] == [()]
    assert sorted(each.quoted[:9] for each in listing.unread) == ["/dev/sda1", "Partition"]
    misaligned = text.replace("976771072", "976773057").replace("2048", "  63")
    listing = read_listing(misaligned, "pasted")
    assert listing.unread == () and len(listing.disks[0].partitions) == 1


def test_the_partition_that_fdisk_calls_off() -> None:
    """It is the one of that number on that drive; one that is not listed is not passed over."""
    several = WELL.replace("sda", "sdb") + WELL.replace("sda1", "sda11")
    (told,) = read_listing(several + OFF, "pasted").unread
    assert told.quoted == OFF.strip()
    listing = read_listing(several + OFF.replace("1", "11"), "pasted")
    assert [len(disk.partitions) for disk in listing.disks] == [1, 0]


LAYERS = """NAME                START   SIZE TYPE  FSTYPE      MOUNTPOINT
sda                       465.8G disk
├─sda1               2048   512M part  vfat        /boot/efi
└─sda2            1050624 465.3G part  crypto_LUKS
  └─luks                  465.3G crypt LVM2_member
    └─vg-root               100G lvm   ext4        /
sdb                       465.8G disk
└─sdb1               2048   512M part  vfat        /srv
"""
LAYERS_IN_PAIRS = """NAME="sda" START="" TYPE="disk"
NAME="sda1" START="2048" TYPE="part"
NAME="luks" START="" TYPE="crypt"
NAME="vg-root" START="" TYPE="lvm"
"""


@pytest.mark.parametrize("text", [LAYERS, LAYERS_IN_PAIRS], ids=["table", "pairs"])
def test_layers_that_lsblk_shows(command: Command, text: str) -> None:
    """They are named as not judged, with the option that judges them; the code is as without."""
    Path("listing.txt").write_text(text)
    code, out, _ = command("align", "check", "listing.txt")
    said = " ".join(out.split())
    assert code == Exit.DONE
    assert said.count("the layers luks, vg-root are not judged") == 1
    assert "ssdlab align check --layer partition:start=2048s --layer crypt" in said


@pytest.mark.parametrize(
    ("text", "row"),
    [
        (LAYERS_IN_PAIRS.replace('luks" START=""', 'luks" START="63"'), 'NAME="luks"'),
        (LAYERS.replace("luks" + " " * 17, "luks" + " " * 15 + "63"), "└─luks"),
        (LSBLK.replace('"crypt",', '"crypt", "start": 63,'), "63"),
    ],
    ids=["pairs", "table", "JSON"],
)
def test_a_start_of_what_is_no_partition(text: str, row: str) -> None:
    """No row of lsblk with a start vanishes."""
    (told,) = read_listing(text, "pasted").unread
    assert row in told.quoted and "is no partition, and " in told.why


def test_lsblk_without_columns() -> None:
    """`lsblk -r` puts a disk's size below START; it is none."""
    raw = "NAME START SIZE\nsda  500107862016\nsda1 2048 536870912\n"
    listing = read_listing(raw, "pasted")
    assert listing.unread == () and len(listing.disks[0].partitions) == 1


WMIC_ROWS = (
    {
        "Bootable": "TRUE",
        "Index": "0",
        "Name": "Disk #0, Partition #0",
        "StartingOffset": "1048576",
    },
    {"Bootable": "FALSE", "Index": "1", "Name": "Disk #0, Partition #1", "StartingOffset": "32256"},
)


@pytest.mark.parametrize("left_out", ["", "Name", "Index"])
def test_columns_of_wmic_in_any_order(left_out: str) -> None:
    """Each is told by its heading."""
    for names in itertools.permutations(("BlockSize", *WMIC_ROWS[0])):
        shown = [each for each in names if each != left_out]
        lines = ["  ".join(each.ljust(22) for each in shown)]
        for row in WMIC_ROWS:
            told = {"BlockSize": "512", **row}
            lines.append("  ".join(told[each].ljust(22) for each in shown))
        listing = read_listing("\n".join(lines), "pasted")
        (disk,) = listing.disks
        assert listing.unread == ()
        assert [each.start.byte for each in disk.partitions] == [2**20, 32256]
    csv = read_listing("Node,Index,StartingOffset\nPC,3,32256\n", "pasted")
    assert [each.name for each in csv.disks[0].partitions] == ["Partition #3"]


@pytest.mark.parametrize(
    "table",
    [
        "NAME        STATE     READ WRITE CKSUM\ntank        ONLINE       0     0     0\n",
        "NAME   SIZE  ALLOC   FREE  CKPOINT\ntank   928G  1.1G   927G  -\n",
    ],
    ids=["status", "list"],
)
@pytest.mark.parametrize("before", ["", "  pool: tank\n state: ONLINE\nconfig:\n\n"])
def test_the_table_of_zpool_is_not_lsblks(command: Command, table: str, before: str) -> None:
    """It begins with NAME too; it is called what it is."""
    Path("pool.txt").write_text(before + table)
    code, out, err = command("align", "check", "pool.txt")
    assert (code, out) == (2, "") and "this is what zpool printed" in err
