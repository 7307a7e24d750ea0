"""Layouts that servers have: good ones, and ones with one thing wrong, each with what is found."""

from __future__ import annotations

from builders import (
    adaptec,
    array,
    behind,
    encrypted,
    host,
    in_pieces,
    logged,
    patrolled,
    plain,
    thin,
    volumes,
    with_queue,
    worn,
)
from layout import Layout
from layouts_deep import DEEP
from layouts_host import HOST
from machine import GIB, MadeMachine

_TIMER = "/etc/systemd/system/timers.target.wants/fstrim.timer"


LAYOUTS = (
    Layout("partition at 1 MiB", lambda: plain().mount("sda1", "/")),
    Layout("LUKS that passes discards", encrypted),
    Layout("LVM, linear", volumes),
    Layout("LVM, thin", thin),
    Layout("RAID 1", lambda: array().mount("md0", "/")),
    Layout("RAID 10", lambda: array("raid10", "abcd").mount("md0", "/")),
    Layout(
        "LVM in LUKS on RAID 1",
        lambda: array().crypt("dm-0", "md0").volume("dm-1", "dm-0").mount("dm-1", "/"),
    ),
    Layout(
        "discard option in place of a timer",
        lambda: plain().file(_TIMER, None).mount("sda1", "/", options="rw,discard"),
    ),
    Layout(
        "hard disk with data",
        lambda: (
            MadeMachine()
            .drive("sda", rotational="1", discard_max_bytes="0", device_model="MADE DISK")
            .partition("sda1", "sda", start=2048)
            .mount("sda1", "/backup")
        ),
    ),
    Layout("swap on RAID 1", lambda: array().swap("md0")),
    Layout("link at medium power", lambda: host(plain(), "med_power_with_dipm")),
    Layout("MegaRAID, write-through, no read-ahead", lambda: behind("NRWTD")),
    Layout(
        "MegaRAID of hard disks, with its caches",
        lambda: with_queue(behind("RWBD", media="HDD"), rotational="1"),
    ),
    Layout("MegaRAID, patrolled", lambda: patrolled("Enabled", "Disabled")),
    Layout("MegaRAID that does not tell of its checks", lambda: patrolled("Disabled", None)),
    Layout("MegaRAID, checked in place of patrolled", lambda: patrolled("OnlyMixed", "Concurrent")),
    Layout("Adaptec, write-through, no read-ahead", lambda: adaptec("Disabled", "Disabled")),
    Layout("drive with half of its life used", lambda: worn(50)),
    Layout(
        "file in pieces of 64 KiB",
        lambda: in_pieces(64),
        (("extents", "yellow"),),
        "/srv",
        "e4defrag /srv",
    ),
    Layout(
        "file in pieces of 256 KiB, on a hard disk",
        lambda: in_pieces(256, "xfs", on_disk=True),
        (("extents", "yellow"),),
        "/srv",
        "xfs_fsr -v /srv",
    ),
    Layout(
        "requests that failed, in the kernel's log",
        lambda: logged("I/O error, dev sda, sector 2048 op 0x1:(WRITE) flags 0x800"),
        (("kernel_log", "red"),),
        "/dev/sda",
        "ssdlab health",
    ),
    Layout(
        "link that is reset, in the kernel's log",
        lambda: logged("ata3: hard resetting link"),
        (("kernel_log", "yellow"),),
        "ata3",
        "change cable or slot",
    ),
    Layout(
        "partition at sector 63",
        lambda: plain(63).mount("sda1", "/srv"),
        (("alignment", "red"),),
        "/dev/sda1 on /dev/sda, byte 32256",
        "echo '2048,' | sfdisk --move-data -N 1 /dev/sda",
    ),
    Layout(
        "partition at sector 64, off the 1 MiB grid",
        lambda: plain(64).mount("sda1", "/srv"),
        (("alignment", "yellow"),),
        "byte 32768",
        "--move-data",
    ),
    Layout(
        "swap and LVM at sector 63",
        lambda: plain(63).volume("dm-0", "sda1").swap("dm-0"),
        (("alignment", "red"),),
        "/dev/sda1 on /dev/sda",
        "swapoff /dev/mapper/vg-dm-0 &&\nvgchange --activate n vg &&\necho '2048,' | sfdisk",
    ),
    Layout(
        "RAID 1 of partitions at sector 63",
        lambda: (
            MadeMachine()
            .drive("sda")
            .partition("sda1", "sda", start=63)
            .drive("sdb")
            .partition("sdb1", "sdb", start=2048)
            .array("md0", "raid1", {"sda1": 264_192, "sdb1": 264_192})
            .mount("md0", "/")
        ),
        (("alignment", "red"),),
        "/dev/sda1 on /dev/sda",
        "mdadm --manage /dev/md0 --fail /dev/sda1 --remove /dev/sda1 &&\necho '2048,' | sfdisk",
    ),
    Layout(
        "LVM off the stripe of RAID 5",
        lambda: (
            array("raid5", "abcd", discard_max_bytes="1048576")
            .volume("dm-0", "md0")
            .mount("dm-0", "/")
        ),
        (("alignment", "yellow"),),
        "/dev/mapper/vg-dm-0 on /dev/md0, byte 1048576",
        "pvcreate --dataalignment 3072k /dev/NEW",
    ),
    Layout(
        "mount point and volume with odd names",
        lambda: (
            plain(63)
            .mapped("dm-0", "vg-a b", "sda1", "0 9 linear {below} 2048", "LVM-a")
            .mount("dm-0", r"/a\040b")
        ),
        (("alignment", "red"),),
        "/dev/sda1 on /dev/sda",
        "mount '/dev/mapper/vg-a b' '/a b'",
    ),
    Layout(
        "LVM in LUKS on RAID 1, without discards",
        lambda: (
            array().crypt("dm-0", "md0", discards=False).volume("dm-1", "dm-0").mount("dm-1", "/")
        ),
        (("discard", "red"),),
        "/: /dev/mapper/crypt-md0",
        "crypt-md0 &&\ndmsetup table vg-dm-1 | dmsetup reload vg-dm-1 && dmsetup resume vg-dm-1",
    ),
    Layout(
        "LUKS without discards",
        lambda: encrypted(False),
        (("discard", "red"),),
        "/home: /dev/mapper/crypt-sda1",
        "cryptsetup refresh --allow-discards --persistent crypt-sda1",
    ),
    Layout(
        "LUKS payload at an odd sector",
        lambda: encrypted(payload=2047),
        (("alignment", "red"),),
        "/dev/mapper/crypt-sda1 on /dev/sda1",
        "no remedy is given, because an encrypted device can be moved only by creating it again",
    ),
    Layout(
        "LUKS 1 payload off the 1 MiB grid",
        lambda: encrypted(payload=2056),
        (("alignment", "yellow"),),
        "byte 1052672",
        "no remedy is given",
    ),
    Layout(
        "LVM data off the grid",
        lambda: volumes(385),
        (("alignment", "red"),),
        "/dev/mapper/vg-dm-0 on /dev/sda1",
        "pvcreate --dataalignment 1024k /dev/NEW",
    ),
    Layout(
        "thin pool that keeps discards",
        lambda: thin(False),
        (("discard", "red"),),
        "vg-pool-tpool",
        "lvchange --discards passdown vg/pool",
    ),
    Layout(
        "RAID 5 takes no discards",
        lambda: array("raid5", "abc").mount("md0", "/"),
        (("discard", "red"),),
        "/dev/md0",
        "no remedy is given, because it is safe only if every drive promises",
    ),
    Layout(
        "RAID 5 with a mismatch",
        lambda: array("raid5", "abc", mismatch_cnt="128", discard_max_bytes="1048576").mount(
            "md0", "/"
        ),
        (("arrays", "red"),),
        "/dev/md0",
        "echo repair",
    ),
    Layout(
        "RAID 1 with a mismatch under swap",
        lambda: array(mismatch_cnt="8").swap("md0"),
        (("arrays", "yellow"),),
        "/dev/md0",
        "echo repair",
    ),
    Layout(
        "RAID 10 with a drive missing",
        lambda: array("raid10", "abcd", degraded="1").mount("md0", "/"),
        (("arrays", "red"),),
        "/dev/md0",
        "mdadm --manage",
    ),
    Layout(
        "array that nobody checks",
        lambda: array().mount("md0", "/").file("/etc/cron.d/mdadm", None),
        (("arrays", "yellow"),),
        "mdcheck_start.timer",
        "systemctl enable --now mdcheck_start.timer",
    ),
    Layout(
        "array whose failure nobody hears of",
        lambda: array().mount("md0", "/").file("/etc/mdadm/mdadm.conf", "HOMEHOST <system>"),
        (("arrays", "yellow"),),
        "mdadm.conf",
        "MAILADDR",
    ),
    Layout(
        "scheduler for disks",
        lambda: with_queue(plain(), scheduler="none mq-deadline [bfq]").mount("sda1", "/"),
        (("scheduler", "yellow"),),
        "/dev/sda",
        "echo none > /sys/block/sda/queue/scheduler",
    ),
    Layout(
        "no NCQ",
        lambda: plain().file("/sys/block/sda/device/queue_depth", "1").mount("sda1", "/"),
        (("scheduler", "yellow"),),
        "/dev/sda",
        "queue_depth",
    ),
    Layout(
        "nobody trims",
        lambda: plain().file(_TIMER, None).mount("sda1", "/"),
        (("trim schedule", "yellow"),),
        "/",
        "systemctl enable --now fstrim.timer",
    ),
    Layout(
        "drive without TRIM, full",
        lambda: (
            MadeMachine()
            .drive("sda", discard_max_bytes="0")
            .partition("sda1", "sda", start=2048, size=63 * GIB)
            .mount("sda1", "/")
        ),
        (("discard", "yellow"), ("spare area", "yellow")),
        "/: /dev/sda (drive)",
        "of /dev/sda unpartitioned",
    ),
    Layout(
        "drive without TRIM, a tenth free",
        lambda: (
            MadeMachine()
            .drive("sda", discard_max_bytes="0")
            .partition("sda1", "sda", start=2048, size=56 * GIB)
            .mount("sda1", "/")
        ),
        (("discard", "yellow"),),
        "/: /dev/sda (drive)",
        "of /dev/sda unpartitioned",
    ),
    Layout(
        "barriers off over a volatile cache",
        lambda: plain().mount("sda1", "/", options="rw,nobarrier"),
        (("write cache", "red"),),
        "/",
        "barrier=1",
    ),
    Layout(
        "link sleeps on a drive that hangs",
        lambda: (
            MadeMachine()
            .drive("sda", device_model="Crucial_CT240M500SSD1")
            .partition("sda1", "sda", start=2048)
            .mount("sda1", "/")
            .file("/sys/class/scsi_host/host0/link_power_management_policy", "min_power")
            .file("/sys/class/scsi_host/host0", "")
        ),
        (("link", "red"),),
        "host0",
        "echo max_performance",
    ),
    Layout(
        "IDE mode",
        lambda: (
            plain()
            .mount("sda1", "/")
            .file("/sys/class/scsi_host/host0/proc_name", "ata_piix")
            .file("/sys/class/scsi_host/host0", "")
        ),
        (("link", "yellow"),),
        "host0",
        "AHCI",
    ),
    Layout(
        "firmware with a known fault",
        lambda: (
            MadeMachine()
            .drive("sda", device_model="M4-CT128M4SSD2", device_rev="0009")
            .partition("sda1", "sda", start=2048)
            .mount("sda1", "/")
        ),
        (("known faults", "red"),),
        "/dev/sda",
        "firmware",
    ),
    Layout(
        "few requests may wait",
        lambda: with_queue(plain(), nr_requests="8").mount("sda1", "/"),
        (("scheduler", "yellow"),),
        "/dev/sda",
        "echo 64 > /sys/block/sda/queue/nr_requests",
    ),
    Layout(
        "link sleeps on any drive",
        lambda: host(plain(), "min_power"),
        (("link", "yellow"),),
        "host0",
        "med_power_with_dipm",
    ),
    Layout(
        "MegaRAID with write-back and read-ahead",
        lambda: behind("RWBD"),
        (("RAID controller", "yellow"), ("RAID controller", "yellow")),
        "/c0/v0",
        "storcli64 /c0/v0 set wrcache=wt",
    ),
    Layout(
        "MegaRAID with write-back though its battery is flat",
        lambda: behind("NRAWBD"),
        (("RAID controller", "red"),),
        "/c0/v0",
        "storcli64 /c0/v0 set wrcache=wt",
    ),
    Layout(
        "MegaRAID that leaves SSDs out and checks nothing",
        lambda: patrolled("Disabled", "Disabled"),
        (("RAID patrol", "yellow"),),
        "/c0",
        "storcli64 /c0 set cc=conc delay=168",
    ),
    Layout(
        "Adaptec with write-back and read-ahead",
        lambda: adaptec("Enabled", "On when protected by battery"),
        (("RAID controller", "yellow"), ("RAID controller", "yellow")),
        "controller 2, logical device 0",
        "arcconf SETCACHE 2 LOGICALDRIVE 0 roff",
    ),
    Layout(
        "controller that nothing can ask",
        lambda: MadeMachine().drive("sda", device_model="PERC H730", device_vendor="DELL"),
        unseen=("RAID controller", "RAID patrol", "RAID state", "wear"),
    ),
    Layout(
        "drive that has outlived its rating",
        lambda: worn(104),
        (("wear", "red"),),
        "/dev/nvme0n1",
    ),
    *DEEP,
    *HOST,
)
