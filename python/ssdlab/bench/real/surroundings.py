"""What else a reader needs to know about a measurement: kernel, link, scheduler, heat.

Once: kernel, machine, processor and its governor, the queue's settings, the link's speed and width,
below what layers the device lies (an array's level and members, as the audit reads them). With
every step: temperatures, and counts that grow when the drive or the processor is throttled. NVMe's
log is asked through nvme-cli, sysfs directly; what cannot be read is left out.

What is told once has to be the same when a run is taken up again, so nothing that changes by itself
is among it.

Left out: throttling that is counted nowhere. A drive without such counts is said to have none.
"""

from __future__ import annotations

import json
import os
import platform
import re
from collections.abc import Iterable, Mapping
from typing import Any

from ssdlab.bench.real.content import RunCommand
from ssdlab.bench.real.node import Node
from ssdlab.ground.tool import GaveUp
from ssdlab.real.device import whole
from ssdlab.real.reading import read_topology
from ssdlab.real.system import LiveSystem, System

_ASK_S = 30.0
_PROCESSORS = "/sys/devices/system/cpu"
_QUEUE = (
    "scheduler",
    "nr_requests",
    "rotational",
    "physical_block_size",
    "discard_granularity",
    "read_ahead_kb",
    "nomerges",
    "rq_affinity",
    "wbt_lat_usec",
)
_LINK = ("current_link_speed", "max_link_speed", "current_link_width", "max_link_width")
_LASTING = (
    "model",
    "vendor",
    "name",
    "backing_file",
    "level",
    "chunk_size",
    "raid_disks",
    "metadata_version",
    "target",
    "cipher",
    "driver",
)
_THROTTLED = (
    "warning_temp_time",
    "critical_comp_time",
    "thm_temp1_trans_count",
    "thm_temp2_trans_count",
    "thm_temp1_total_time",
    "thm_temp2_total_time",
)
"""Of NVMe's log 02h: each grows only while the drive is too hot, or slows itself down."""


def surroundings(node: Node, system: System) -> dict[str, Any]:
    """Say once what the device and its machine are set to."""
    queue = {name: node.queue(system, name) for name in _QUEUE}
    return {
        **surroundings_of_machine(system),
        "queue": {name: value for name, value in queue.items() if value is not None},
        "link": link(node, system),
        "layers": layers(node, system),
    }


def surroundings_of_machine(system: System | None = None) -> dict[str, Any]:
    """Say once what the machine is set to."""
    return {
        "kernel": platform.release(),
        "machine": platform.machine(),
        "processors": os.cpu_count(),
        "governor": governors(system or LiveSystem()),
    }


def governors(system: System) -> str:
    """Name the governors of the processors' frequency; empty where there is none."""
    found = {
        system.read(f"{_PROCESSORS}/{name}/cpufreq/scaling_governor")
        for name in system.entries(_PROCESSORS)
        if re.fullmatch(r"cpu\d+", name)
    }
    return ", ".join(sorted(each for each in found if each))


def link(node: Node, system: System) -> dict[str, str]:
    """Give speed and width of the PCIe link, or the speed of the SATA link."""
    folder = system.real(f"{node.drive_folder}/device") or ""
    found: dict[str, str] = {}
    # The drive itself, then what it hangs on: the nearest link is its own.
    while folder.startswith("/sys/devices/") and not found:
        for name in _LINK:
            value = system.read(f"{folder}/{name}")
            if value is not None:
                found[name] = value
        folder = folder.rpartition("/")[0]
    return found | _sata_link(node, system)


def _sata_link(node: Node, system: System) -> dict[str, str]:
    place = system.real(f"{node.drive_folder}/device") or ""
    port = re.search(r"/(ata(\d+))/", place)
    if port is None:
        return {}
    name = f"link{port[2]}"
    speed = system.read(f"/sys/class/ata_link/{name}/sata_spd")
    return {"sata_speed": speed} if speed else {}


def layers(node: Node, system: System) -> list[dict[str, Any]]:
    """Name what the device stands on, itself first, with the configuration of each array."""
    topology = read_topology(system)
    found = []
    for device, offset in topology.layers(node.name):
        found.append(
            {
                "device": device.label,
                "kind": device.kind,
                "size_bytes": device.size_bytes,
                "begins_at_byte": offset,
                **{name: device.details[name] for name in _LASTING if name in device.details},
            }
        )
    return found


class Throttle:
    """Watches for heat and for throttling, step by step.

    Parameters
    ----------
    node
        The device.
    system
        The machine.
    run
        Runs a tool.
    """

    def __init__(self, node: Node, system: System, run: RunCommand) -> None:
        self._node, self._system, self._run = node, system, run
        self._first = self._counts()

    def temperatures(self) -> dict[str, float]:
        """Give what the kernel's sensors of the drive show, in degrees Celsius; quick."""
        found = {}
        for folder in self._sensors():
            for name in self._system.entries(folder):
                milli = self._system.read(f"{folder}/{name}")
                if re.fullmatch(r"temp\d+_input", name) and whole(milli) is not None:
                    found[name.removesuffix("_input")] = int(milli or 0) / 1000
        return found

    def seen(self) -> dict[str, Any]:
        """Say what has grown since the beginning, and whether that is throttling."""
        now = self._counts()
        grown = {name: now[name] - old for name, old in self._first.items() if name in now}
        return {
            "counts": grown,
            "throttled": any(number > 0 for number in grown.values()) if grown else None,
        }

    def _sensors(self) -> Iterable[str]:
        device = f"{self._node.drive_folder}/device"
        for folder in (device, f"{device}/device", f"{device}/hwmon"):
            for name in self._system.entries(folder):
                if name.startswith("hwmon") and name != "hwmon":
                    yield f"{folder}/{name}"

    def _counts(self) -> dict[str, int]:
        counts = {name: number for name, number in self._log().items() if name in _THROTTLED}
        found: dict[str, int] = {name: number for name, number in counts.items()}
        for name in self._system.entries(_PROCESSORS):
            place = f"{_PROCESSORS}/{name}/thermal_throttle/package_throttle_count"
            number = whole(self._system.read(place))
            if number is not None:
                found[f"{name} package throttled"] = number
        return found

    def _log(self) -> Mapping[str, int]:
        if not self._node.is_nvme:
            return {}
        words = ("nvme", "smart-log", f"/dev/{self._node.drive}", "--output-format=json")
        try:
            content = json.loads(self._run(words, _ASK_S).output)
        except (GaveUp, OSError, ValueError, RecursionError):
            return {}
        told = content if isinstance(content, Mapping) else {}
        numbers = {name: whole(str(value)) for name, value in told.items()}
        return {name: number for name, number in numbers.items() if number is not None}
