"""Listings of partitions of public threads, and what a reader works out by hand.

Of a thread only its numbers are kept: sectors, sizes, types, in the form in which they were pasted.
What the thread itself says stands beside each; where ours is another verdict, so does the reason.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Real:
    """A listing of a public thread.

    Attributes
    ----------
    source
        Its address.
    text
        Its numbers, in the form in which they were pasted.
    starts
        Where the partitions that are judged begin, in sectors, worked out by hand; None where the
        listing rounds.
    thread
        The thread's own answer: it fits, it does not, or None where it gives none.
    differs
        Why ours is another; empty where it is the same.
    align
        What `--align` is given, where the thread asks about another size.
    as_printed
        Partitions that are aligned to the precision of a listing that rounds: 1049kB, 2.00MiB.
    """

    source: str
    text: str
    starts: tuple[int | None, ...]
    thread: bool | None
    differs: str = ""
    align: str = ""
    as_printed: tuple[str, ...] = ()


GITHUB = "https://github.com/"
ROUNDED = "parted align-check reads the drive; the listing is rounded and hides the sector"
REAL = {
    "two partitions of an old fdisk": Real(
        GITHUB + "cloudfoundry/bosh/issues/587",
        """Disk /dev/sdb: 21.0 GB, 20971520000 bytes
255 heads, 63 sectors/track, 2549 cylinders, total 40960000 sectors
Units = sectors of 1 * 512 = 512 bytes
Sector size (logical/physical): 512 bytes / 4096 bytes
I/O size (minimum/optimal): 4096 bytes / 4096 bytes

   Device Boot      Start         End      Blocks   Id  System
/dev/sdb1               1     7020404     3510202   82  Linux swap / Solaris
Partition 1 does not start on physical sector boundary.
/dev/sdb2         7020405    40949684    16964640   83  Linux
""",
        (1, 7020405),
        thread=False,
    ),
    "an installer off by one": Real(
        GITHUB + "calamares/calamares/issues/1110",
        """Disk /dev/sda: 931.5 GiB, 1000204886016 bytes, 1953525168 sectors
Units: sectors of 1 * 512 = 512 bytes
Sector size (logical/physical): 512 bytes / 4096 bytes
I/O size (minimum/optimal): 4096 bytes / 4096 bytes
Disklabel type: dos

Device     Boot      Start        End    Sectors   Size Id Type
/dev/sda1             2048 1917390096 1917388049 914.3G 83 Linux
/dev/sda2       1917390097 1953520064   36129968  17.2G 82 Linux swap / Solaris
""",
        (2048, 1917390097),
        thread=False,
    ),
    "an installer that was mended": Real(
        GITHUB + "truenas/truenas-installer/pull/42",
        """Disk /dev/sda: 20 GiB, 21474836480 bytes, 41943040 sectors
Units: sectors of 1 * 512 = 512 bytes
Sector size (logical/physical): 512 bytes / 512 bytes
I/O size (minimum/optimal): 512 bytes / 512 bytes
Disklabel type: gpt

Device       Start      End  Sectors  Size Type
/dev/sda1     2048     4095     2048    1M BIOS boot
/dev/sda2     4096  1052671  1048576  512M EFI System
/dev/sda3  1052672 41943006 40890335 19.5G Solaris /usr & Apple ZFS
""",
        (4096, 1052672),
        thread=True,
    ),
    "parted aligns by percent": Real(
        GITHUB + "vyos/vyatta-cfg-system/pull/1",
        """Disk /dev/sdc: 4294 MB, 4294967296 bytes
43 heads, 32 sectors/track, 6096 cylinders, total 8388608 sectors
Units = sectors of 1 * 512 = 512 bytes
Sector size (logical/physical): 512 bytes / 512 bytes
I/O size (minimum/optimal): 512 bytes / 512 bytes

   Device Boot      Start         End      Blocks   Id  System
/dev/sdc1            2048     8388607     4193280   83  Linux
""",
        (2048,),
        thread=True,
    ),
    "a volume without the line of units": Real(
        GITHUB + "QubesOS/qubes-issues/issues/5151",
        """Device                   Boot Start     End Sectors Size Id Type
/dev/mapper/volume-part1          1 2097152 2097152   1G 82 Linux swap / Solaris

Partition 1 does not start on physical sector boundary.
""",
        (1,),
        thread=False,
    ),
    "a firmware's image": Real(
        GITHUB + "openwrt/openwrt/issues/12395, sectors: openwrt/firmware-utils/pull/12",
        """Disk combined.img: 120.5 MiB, 126353408 bytes, 246784 sectors
Units: sectors of 1 * 512 = 512 bytes

Device        Boot Start    End Sectors  Size Id Type
combined.img1 *      512  33279   32768   16M 83 Linux
combined.img2      33792 246783  212992  104M 83 Linux
""",
        (512, 33792),
        thread=True,
    ),
    "an image asked for 4 MiB": Real(
        GITHUB + "orangepi-xunlong/orangepi-build/issues/113",
        """Disk /dev/mmcblk0: 28.8 GiB, 30924603392 bytes, 60399616 sectors
Units: sectors of 1 * 512 = 512 bytes
Sector size (logical/physical): 512 bytes / 512 bytes
I/O size (minimum/optimal): 512 bytes / 512 bytes
Disklabel type: dos

Device         Boot Start      End  Sectors  Size Id Type
/dev/mmcblk0p1      61440 59795615 59734176 28.5G 83 Linux
""",
        (61440,),
        thread=False,
        differs="the thread asks for the grain of discards, 4 MiB: 61440 % 8192 is 4096",
        align="4MiB",
    ),
    "busybox with columns of CHS": Real(
        GITHUB + "LibreELEC/LibreELEC.tv/pull/2287",
        """Disk /dev/loop0: 549 MB, 575668224 bytes, 1124352 sectors
8784 cylinders, 4 heads, 32 sectors/track
Units: sectors of 1 * 512 = 512 bytes

Device     Boot StartCHS    EndCHS        StartLBA     EndLBA    Sectors  Size Id Type
/dev/loop0p1 *  64,0,1      1023,3,32         8192    1056767    1048576  512M  c Win95 FAT32 (LBA)
/dev/loop0p2    1023,3,32   1023,3,32      1056768    1122303      65536 32.0M 83 Linux
""",
        (8192, 1056768),
        thread=None,
    ),
    "a dump on 4 KiB": Real(
        GITHUB + "util-linux/util-linux/issues/720",
        """label: gpt
device: /dev/sdc
unit: sectors
first-lba: 34
last-lba: 234441614

/dev/sdc1 : start=          40, size=        2008, type=21686148-6449-6E6F-744E-656564454649
/dev/sdc2 : start=        2048, size=      524288, type=C12A7328-F81F-11D2-BA4B-00A0C93EC93B
/dev/sdc3 : start=      526336, size=    16777216, type=0657FD6D-A4AB-43C4-84E5-0933C84B4F4F
/dev/sdc4 : start=    17303552, size=   217138056, type=0FC63DAF-8483-4772-8E79-3D69D8477DE4
""",
        (2048, 526336, 17303552),
        thread=True,
    ),
    "a dump of one partition": Real(
        GITHUB + "util-linux/util-linux/issues/3186",
        """label: gpt
device: /dev/vda
unit: sectors
first-lba: 34
last-lba: 2147483614
sector-size: 512

/dev/vda1 : start=        2048, size=   209715200, type=EBD0A0A2-B9E5-4433-87C0-68B6B72699C7
""",
        (2048,),
        thread=None,
    ),
    "parted in round figures": Real(
        GITHUB + "hippoKnight/UBUNTU_NOTES/issues/31",
        """Disk /dev/sda: 1000GB
Sector size (logical/physical): 512B/4096B
Partition Table: gpt
Disk Flags:

Number  Start   End     Size    File system     Name                          Flags
 1      17.4kB  134MB   134MB                   Microsoft reserved partition  msftres
 2      135MB   891GB   891GB   ntfs            Basic data partition          msftdata
 3      891GB   891GB   1049kB                                                bios_grub
 4      891GB   992GB   100GB   ext4
 5      992GB   1000GB  8463MB  linux-swap(v1)
""",
        (None, None, None),
        thread=True,
        differs=ROUNDED,
    ),
    "parted of a pool": Real(
        GITHUB + "openzfs/openzfs-docs/issues/427",
        """Disk /dev/sda: 240GB
Sector size (logical/physical): 512B/512B
Partition Table: gpt
Disk Flags:

Number  Start   End     Size    File system  Name  Flags
 5      24.6kB  1049kB  1024kB                     bios_grub
 1      1049kB  1075MB  1074MB  fat32              boot, esp
 2      1075MB  5370MB  4295MB
 4      5370MB  14.0GB  8590MB                     swap
 3      14.0GB  240GB   226GB
""",
        (None, None, None, None),
        thread=True,
        as_printed=("/dev/sda1",),
        differs=ROUNDED,
    ),
    "parted in MiB": Real(
        GITHUB + "rear/rear/pull/1733",
        """Disk /dev/sdb: 1843MiB
Sector size (logical/physical): 512B/512B
Partition Table: msdos
Number  Start    End      Size     Type      File system  Flags
 1      2.00MiB  802MiB   800MiB   primary                type=83
 2      802MiB   1202MiB  400MiB   primary                type=83
 3      1202MiB  1843MiB  641MiB   extended               lba, type=0f
 5      1202MiB  1293MiB  91.0MiB  logical                type=83
 6      1293MiB  1493MiB  200MiB   logical   ext2         type=83
""",
        (None, None, None, None),
        as_printed=("/dev/sdb1",),
        thread=None,
    ),
    "parted in bytes": Real(
        GITHUB + "andlabs/reallymine/issues/116",
        """Disk decrypted.img: 2000398934016B
Sector size (logical/physical): 512B/512B
Partition Table: msdos
Disk Flags:

Number  Start     End             Size            Type     File system  Flags
 1      1048576B  2000365289471B  2000364240896B  primary  ntfs
""",
        (2048,),
        thread=None,
    ),
    "gpart of a pool": Real(
        GITHUB + "zfsonfreebsd/ZoF/issues/84",
        """=>        40  1048575920  ada1  GPT  (500G)
          40         512     1  freebsd-boot  (256K)
         552  1044469760     2  freebsd-zfs  (498G)
  1044470312     4096000     3  freebsd-swap  (2.0G)
  1048566312        9648        - free -  (4.7M)
""",
        (552, 1044470312),
        thread=None,
    ),
    "gpart with labels in place of types": Real(
        GITHUB + "morganwdavis/freebsd-digitalocean/issues/5",
        """=>      34  83886013  vtbd0  GPT  (40G)
        34         6         - free -  (3.0K)
        40      1024      1  gptboot0  (512K)
      1064       984         - free -  (492K)
      2048   4194304      2  swap0  (2.0G)
   4196352  79687680      3  zfs0  (38G)
  83884032      2015         - free -  (1.0M)
""",
        (40, 2048, 4196352),
        thread=None,
    ),
    "a slice at 63 and one at 21030912": Real(
        "FreeBSD forum, SSD performance and partition alignment",
        """=>       63  175836465  ada0  MBR  (84G)
         63   20842479     1  freebsd  (9.9G)
   20842542     188370        - free -  (92M)
   21030912   20971503     2  freebsd  (10G)
   42002415  133834113        - free -  (64G)
""",
        (63, 21030912),
        thread=False,
    ),
    "a label that puts its slice right": Real(
        "FreeBSD forum, SSD performance and partition alignment",
        """=>       63  175836465  ada0  MBR  (84G)
         63   20971503     1  freebsd  (10G)
   20971566      59346        - free -  (29M)

=>       0  20971503  ada0s1  BSD  (10G)
         0      1985          - free -  (993K)
      1985   2097152       1  freebsd-ufs  (1.0G)
   2099137  18872366          - free -  (9.0G)
""",
        (2048,),
        thread=True,
    ),
    "diskinfo of a partition": Real(
        "FreeBSD forum, SSD performance and partition alignment",
        """/dev/ada0s1a
        512             # sectorsize
        1073741824      # mediasize in bytes (1.0G)
        2097152         # mediasize in sectors
        0               # stripesize
        32256           # stripeoffset
/dev/ada0s2a
        512             # sectorsize
        1073741824      # mediasize in bytes (1.0G)
        2097152         # mediasize in sectors
        0               # stripesize
        2177892352      # stripeoffset
""",
        (63, 4253696),
        thread=False,
    ),
    "what Windows counts from": Real(
        GITHUB + "rbalsleyMSFT/FFU/issues/269, numbers of a log in Win32_DiskPartition's form",
        """Name           : Disk #0, Partition #0
StartingOffset : 1048576
Size           : 272629760
Type           : GPT: System

Name           : Disk #0, Partition #1
StartingOffset : 273678336
Size           : 16777216
Type           : Microsoft Reserved
""",
        (2048,),
        thread=None,
    ),
    "fdisk in another language": Real(
        "Thomas-Krenn SSD e-book, listing 2",
        """Disk /dev/sda: 240,1 GB, 240057409536 bajtů
255 hlav, 63 sektorů/stopu, 29185 cylindrů, celkem 468862128 sektorů
Jednotky = sektory po 1 * 512 = 512 bajtů
Sector size (logical/physical): 512 bajtů / 512 bajtů
I/O size (minimum/optimal): 512 bajtů / 512 bajtů

Zařízení  boot.  Počátek      Konec     Bloky   Id Systém
/dev/sda1   *        2048      718847      358400    7  HPFS/NTFS/exFAT
/dev/sda2          718848   468858879   234070016    7  HPFS/NTFS/exFAT
""",
        (2048, 718848),
        thread=True,
    ),
}
