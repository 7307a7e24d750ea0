"""``ssdlab audit --load``: what the machine reads and writes, and a job file that does the same."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence

from ssdlab.cli.console import is_terminal, note, print_json, print_list, print_table, print_text
from ssdlab.cli.streams import printable
from ssdlab.ground import signals
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit
from ssdlab.ground.output import PendingFile, is_stdout
from ssdlab.ground.text import NOTHING, percent, significant
from ssdlab.machine.audit.load import DeviceLoad, Requests, WriteLoad, parse_duration, watch
from ssdlab.machine.audit.load_job import job_of
from ssdlab.machine.audit.walk import chosen_devices, device_of
from ssdlab.real.reading import read_topology
from ssdlab.real.system import System
from ssdlab.real.topology import Topology

_HEADINGS = (
    "device",
    "kind",
    "reads/s",
    "mean size",
    "GB/day",
    "writes/s",
    "mean size",
    "GB/day",
    "depth",
    "discards",
    "flushes/s",
)
_NARROW_HEADINGS = ("device", "", "per second", "mean size", "GB/day")
_WIDE_COLUMNS = 120
"""From so many columns of a terminal on a device fits into one row."""
_UNTOLD = (
    "whether requests were random or sequential",
    "how their sizes spread around the mean",
    "which program sent them",
)
_AGAIN = "A layer's requests are counted again in the layers below it."


def count_load(
    system: System, duration: str, places: Sequence[str], job_file: str | None, as_json: bool
) -> int:
    """Count for some time, report, and write the job file that was asked for.

    Raises
    ------
    SsdlabError
        No time, no such place, nothing that is counted, or no load to make a job of.
    """
    seconds = parse_duration(duration)
    job_to_stdout = job_file is not None and is_stdout(job_file)
    if job_to_stdout and as_json:
        raise SsdlabError("--json and --output - would both write to stdout: give one of them")
    topology = read_topology(system)
    names = chosen_devices(system, topology, places)
    # Tried first, so that no time is lost on a place that cannot be written.
    pending = None if job_file is None else PendingFile(job_file, "--output")

    def begun() -> None:
        if is_terminal(sys.stderr):
            note(f"counting for {duration}; Ctrl-C stops and reports what was counted so far")

    with signals.raising():
        load = watch(system, topology, names, seconds, begun=begun)
    if not job_to_stdout:
        print_json(load.to_dict()) if as_json else _print(load)
    for each in load.unread if job_to_stdout else ():
        note(printable(each.told()))
    if pending is not None:
        meant = _meant(load, system, topology, places)
        with pending:
            pending.write(job_of(meant))
        if not job_to_stdout:
            note(f"{job_file} holds the load of {printable(meant.label)}")
    if not load.devices or (load.unread and not load.was_stopped):
        return int(Exit.NOT_JUDGED)
    return signals.exit_code() if load.was_stopped else 0


def _meant(
    load: WriteLoad, system: System, topology: Topology, places: Sequence[str]
) -> DeviceLoad:
    """Give the device whose load the job is: that of the first place, or the busiest drive."""
    wanted = topology.devices[device_of(system, topology, places[0])] if places else None
    # A btrfs on several devices has no counters of its own; its busiest drive stands for it.
    if wanted is not None and wanted.kind != "btrfs":
        found = [device for device in load.devices if device.name == wanted.name]
    else:
        found = [device for device in load.devices if device.kind == "drive"]
    if not found:
        what = "no drive" if wanted is None else wanted.label
        raise SsdlabError(
            f"--load: {what} was not counted from start to end, so there is no job to write"
        )
    return max(found, key=lambda device: device.reads.count + device.writes.count)


def _print(load: WriteLoad) -> None:
    if is_terminal(sys.stdout) and shutil.get_terminal_size((80, 24)).columns < _WIDE_COLUMNS:
        rows = [row for device in load.devices for row in _narrow_rows(device)]
        print_table(_NARROW_HEADINGS, rows, right=(2, 3, 4), fold=0)
    else:
        rows = [_row(device) for device in load.devices]
        print_table(_HEADINGS, rows, right=tuple(range(2, len(_HEADINGS))))
    early = ", stopped early" if load.was_stopped else ""
    print_text(f"\ncounted for {load.seconds:.1f} s{early}")
    print_text(_AGAIN)
    print_list("The kernel's counters do not tell:", _UNTOLD)
    if load.unread:
        print_list("Not judged:", [printable(each.told()) for each in load.unread])


def _narrow_rows(device: DeviceLoad) -> list[tuple[str, ...]]:
    """Give a row for each direction, and one for what they have in common."""
    flushes = NOTHING if device.flushes is None else significant(device.flushes / device.seconds)
    return [
        (printable(device.label), "reads", *_cells(device, device.reads)),
        (device.kind, "writes", *_cells(device, device.writes)),
        ("", "flushes", flushes, NOTHING, NOTHING),
        ("", "depth", f"{device.depth:.2f}", NOTHING, NOTHING),
        ("", "discards", percent(device.discard_share), NOTHING, NOTHING),
    ]


def _row(device: DeviceLoad) -> tuple[str, ...]:
    flushes = None if device.flushes is None else device.flushes / device.seconds
    return (
        printable(device.label),
        device.kind,
        *_cells(device, device.reads),
        *_cells(device, device.writes),
        f"{device.depth:.2f}",
        percent(device.discard_share),
        NOTHING if flushes is None else significant(flushes),
    )


def _cells(device: DeviceLoad, requests: Requests) -> tuple[str, str, str]:
    mean = requests.mean_bytes
    return (
        significant(device.per_second(requests)),
        NOTHING if mean is None else f"{significant(mean / 1024)} KiB",
        significant(device.gb_per_day(requests)),
    )
