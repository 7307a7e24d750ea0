"""A machine made of words: sysfs, procfs and what tools print, for the audit's tests."""

from __future__ import annotations

import re

from ssdlab.machine.audit.checks.kernel_log import JOURNAL
from ssdlab.real.sampled_files import FileSample, SampledFile
from ssdlab.real.system import CapturedSystem

GIB = 1 << 30
DISCARDS = 2_147_450_880
SECTOR = 512
IN_FEW_PIECES = FileSample((SampledFile("/a file", 1 << 30, 2),), 1, is_whole=True)
LAST_RUN = "Mon 2026-11-23 00:12:07 UTC"
BLOCK = 4096


def unescaped(place: str) -> str:
    """Undo the escapes of mountinfo."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), place)


class MadeMachine:
    """Builds the files that a kernel would show for a layout.

    A device is added after what it stands on; everything is good unless it is said otherwise.
    """

    def __init__(self) -> None:
        self.files: dict[str, str | None] = {}
        self.folders: dict[str, list[str]] = {}
        self.commands: dict[str, str | None] = {}
        self.links: dict[str, str | None] = {}
        self.commands[" ".join(JOURNAL)] = "Linux version 6.1"
        self.running = {"cron": True}
        self.samples: dict[str, FileSample] = {}
        self.file("/proc/1/comm", "systemd")
        self._numbers: dict[str, str] = {}
        self._labels: dict[str, str] = {}
        self._tables: list[str] = []
        self._queues: dict[str, dict[str, str]] = {}
        self._sizes: dict[str, int] = {}
        self.file("/etc/systemd/system/timers.target.wants/fstrim.timer", "[Timer]")
        self.file("/etc/cron.d/mdadm", "57 0 * * 0 root checkarray")
        self.file("/etc/mdadm/mdadm.conf", "HOMEHOST <system>\nMAILADDR root")

    def system(self) -> CapturedSystem:
        """Give the machine."""
        commands = {"dmsetup table": "\n".join(self._tables) or None, **self.commands}
        for path, target in self.files.items():
            unit = re.fullmatch(r"/etc/systemd/system/timers\.target\.wants/(.+\.timer)", path)
            if unit and target is not None and f"/etc/systemd/system/{unit[1]}" not in self.links:
                shown = f"systemctl show {unit[1]} --property=ActiveState,LastTriggerUSec"
                commands.setdefault(shown, f"ActiveState=active\nLastTriggerUSec={LAST_RUN}")
        return CapturedSystem(
            self.files,
            self.folders,
            commands,
            links=self.links,
            running=self.running,
            samples=self.samples,
        )

    def file(self, path: str, text: str | None) -> MadeMachine:
        """Put a file there, and its name into its folder; None takes it away."""
        folder, _, name = path.rpartition("/")
        if text is None:
            self.files.pop(path, None)
            return self
        self.files[path] = text
        names = self.folders.setdefault(folder, [])
        if name not in names:
            names.append(name)
        return self

    def link(self, path: str, target: str | None) -> MadeMachine:
        """Let a path lead elsewhere, or nowhere."""
        self.links[path] = target
        return self

    def command(self, words: str, answer: str) -> MadeMachine:
        """Let a tool answer."""
        self.commands[words] = answer
        return self

    def drive(self, name: str, *, size: int = 64 * GIB, **attributes: str) -> MadeMachine:
        """Add an SSD with TRIM; ``attributes`` are of its queue, or with ``device_`` of itself."""
        queue = {
            "rotational": "0",
            "discard_max_bytes": str(DISCARDS),
            "discard_granularity": "512",
        }
        queue |= {"optimal_io_size": "0", "physical_block_size": "4096", "nr_requests": "64"}
        queue |= {"scheduler": "[none] mq-deadline", "write_cache": "write back"}
        queue |= {key: value for key, value in attributes.items() if not key.startswith("device_")}
        self._add(name, size, queue)
        for key, value in {"device_model": "MADE SSD", **attributes}.items():
            if key.startswith("device_"):
                self.file(f"/sys/block/{name}/device/{key.removeprefix('device_')}", value)
        return self

    def _add(self, name: str, size: int, queue: dict[str, str]) -> None:
        self.folders.setdefault("/sys/block", []).append(name)
        self.file(f"/sys/block/{name}/size", str(size // SECTOR))
        for key, value in queue.items():
            self.file(f"/sys/block/{name}/queue/{key}", value)
        self._queues[name] = queue
        self._sizes[name] = size
        self._number(name, f"/dev/{name}")

    def _number(self, name: str, label: str) -> None:
        self._numbers[name] = f"8:{len(self._numbers)}"
        self._labels[name] = label
        self.file(f"/sys/class/block/{name}/dev", self._numbers[name])

    def partition(self, name: str, drive: str, *, start: int, size: int = 40 * GIB) -> MadeMachine:
        """Add a partition that begins at a sector."""
        folder = f"/sys/block/{drive}/{name}"
        self.folders[f"/sys/block/{drive}"].append(name)
        self.file(f"{folder}/start", str(start)).file(f"{folder}/size", str(size // SECTOR))
        self.file(f"{folder}/partition", name[len(drive) :].lstrip("p"))
        self._queues[name] = self._queues[drive]
        self._sizes[name] = size
        self._number(name, f"/dev/{name}")
        return self

    def mapped(
        self, name: str, label: str, below: str, table: str, uuid: str, discards: bool = True
    ) -> MadeMachine:
        """Add a device-mapper device on others, parted by blanks, of which data is on the first.

        ``{below}`` in its table is the number of the first, ``{1}`` of the next.
        """
        slaves = below.split()
        below = slaves[0]
        passes = discards and self._queues[below]["discard_max_bytes"] != "0"
        queue = {"rotational": self._queues[below]["rotational"], "optimal_io_size": "0"}
        queue["discard_max_bytes"] = str(DISCARDS if passes else 0)
        self._add(name, 32 * GIB, queue)
        self.folders[f"/sys/block/{name}/slaves"] = slaves
        self.file(f"/sys/block/{name}/dm/name", label).file(f"/sys/block/{name}/dm/uuid", uuid)
        self._labels[name] = f"/dev/mapper/{label}"
        numbers = [self._numbers[slave] for slave in slaves]
        self._tables.append(f"{label}: {table.format(*numbers, below=numbers[0])}")
        return self

    def crypt(
        self, name: str, below: str, *, payload: int = 32768, discards: bool = True
    ) -> MadeMachine:
        """Add an encrypted device whose data begins at a sector."""
        options = " 1 allow_discards" if discards else ""
        table = f"0 67108864 crypt aes-xts-plain64 :64:logon:x 0 {{below}} {payload}{options}"
        return self.mapped(name, f"crypt-{below}", below, table, "CRYPT-LUKS2-0", discards)

    def volume(self, name: str, below: str, *, start: int = 2048) -> MadeMachine:
        """Add a logical volume that begins at a sector of the physical one."""
        table = f"0 67108864 linear {{below}} {start}"
        return self.mapped(name, f"vg-{name}", below, table, "LVM-abc")

    def array(
        self, name: str, level: str, members: dict[str, int], **attributes: str
    ) -> MadeMachine:
        """Add a software RAID; members with the sector at which their data begins."""
        passes = "0" if level == "raid5" else str(DISCARDS)
        queue = {"rotational": "0", "discard_max_bytes": passes, "optimal_io_size": "0"}
        self._add(name, 60 * GIB, {**queue, **attributes})
        self.folders[f"/sys/block/{name}/slaves"] = sorted(members)
        details = {"level": level, "mismatch_cnt": "0", "degraded": "0", "sync_action": "idle"}
        details |= {"raid_disks": str(len(members)), "array_state": "clean", "chunk_size": "0"}
        if level != "raid1":
            details["chunk_size"] = "524288"
        details |= attributes
        for key, value in details.items():
            self.file(f"/sys/block/{name}/md/{key}", value)
        for member, offset in members.items():
            self.folders[f"/sys/block/{name}/md"].append(f"dev-{member}")
            self.file(f"/sys/block/{name}/md/dev-{member}/offset", str(offset))
        return self

    def loop(self, name: str, path: str, size: int = GIB) -> MadeMachine:
        """Add a loop device on a file."""
        queue = {"rotational": "0", "discard_max_bytes": "4294966784", "optimal_io_size": "0"}
        self._add(name, size, queue)
        return self.file(f"/sys/block/{name}/loop/backing_file", path)

    def over(self, name: str, *below: str, **attributes: str) -> MadeMachine:
        """Add a device of the kernel's own on others, such as bcache."""
        queue = {"rotational": "0", "discard_max_bytes": str(DISCARDS), "optimal_io_size": "0"}
        self._add(name, 32 * GIB, queue | attributes)
        self.folders[f"/sys/block/{name}/slaves"] = list(below)
        return self

    def btrfs(self, place: str, *members: str, missing: int = 0) -> MadeMachine:
        """Mount a btrfs of several devices."""
        folder = "/sys/fs/btrfs/3a1b"
        self.folders.setdefault("/sys/fs/btrfs", ["features", "3a1b"])
        self.folders[f"{folder}/devices"] = list(members)
        count = len(members) + missing
        self.folders[f"{folder}/devinfo"] = [str(each + 1) for each in range(count)]
        for each in range(count):
            gone = "1" if each >= len(members) else "0"
            self.files[f"{folder}/devinfo/{each + 1}/missing"] = gone
        line = f"31 1 0:28 /root {place} rw - btrfs {self._labels[members[0]]} rw,subvol=/root"
        self.command(f"stat -f -c %S %b %f {place}", f"{BLOCK} 1000 500")
        return self._mounted(line)

    def mount(
        self,
        name: str,
        place: str,
        kind: str = "ext4",
        options: str = "rw",
        free: float | None = 0.5,
    ) -> MadeMachine:
        """Mount a file system, of which a share is free; None keeps it to itself."""
        if free is not None:
            blocks = self._sizes[name] // BLOCK
            answer = f"{BLOCK} {blocks} {int(blocks * free)}"
            self.command(f"stat -f -c %S %b %f {unescaped(place)}", answer)
        self.samples[unescaped(place)] = IN_FEW_PIECES
        line = f"30 1 {self._numbers[name]} / {place} rw - {kind} {self._labels[name]} {options}"
        return self._mounted(line)

    def elsewhere(self, place: str, kind: str) -> MadeMachine:
        """Mount a file system that is on no block device."""
        return self._mounted(f"32 1 0:40 / {place} rw - {kind} none rw")

    def _mounted(self, line: str) -> MadeMachine:
        return self.file(
            "/proc/self/mountinfo", f"{self.files.get('/proc/self/mountinfo') or ''}{line}\n"
        )

    def extents(self, pieces: str) -> MadeMachine:
        """Let LVM tell of its physical volumes: lines of device, group, volume and bytes."""
        lines = (line.split(",") for line in pieces.split())
        answer = "\n".join(f"  /dev/{pv}|{vg}|{lv}|{size}|1" for pv, vg, lv, size in lines)
        words = "--readonly --segments --noheadings --units b --nosuffix --separator |"
        asked = "pv_name,vg_name,lv_name,pvseg_size,vg_extent_size"
        return self.command(f"pvs {words} -o {asked}", answer)

    def swap(self, name: str) -> MadeMachine:
        """Use a device as swap."""
        header = "Filename Type Size Used Priority\n"
        return self.file("/proc/swaps", f"{header}{self._labels[name]} partition 1 0 -2\n")
