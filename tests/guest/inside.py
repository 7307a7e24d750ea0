"""Runs in the guest: builds each layout, audits it, mends it, proves TRIM, and reports.

One JSON object a line goes to the second serial port. Drives are wiped between layouts.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import struct
import subprocess
import time
import traceback
from collections.abc import Callable, Iterable
from typing import Any

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.audit import LiveSystem, Severity, audit
from ssdlab.machine.audit.prove_trim import prove_trim

PORT = "/dev/ttyS1"
_DRIVES = ("vda", "vdb", "vdc", "vdd", "vde", "paths")
_IDLE_AT_MOST_S = 300.0
_LINE_AT_MOST_S = 300.0
# linux/fs.h
_BLKZEROOUT = 0x127F
_BLKRRPART = 0x125F
_SAMPLE_BYTES = 3 << 20


def shell(line: str, answer: str = "") -> tuple[int, str]:
    """Run one line; ``idle`` waits until no array is being synchronised."""
    if line == "idle":
        wait_until_idle()
        return 0, ""
    try:
        done = subprocess.run(
            ["/bin/bash", "-c", line],
            input=answer, capture_output=True, text=True, check=False, timeout=_LINE_AT_MOST_S,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return 124, f"no end within {_LINE_AT_MOST_S:.0f} s"
    return done.returncode, done.stdout + done.stderr


def wait_until_idle() -> None:
    """Wait until md0 does nothing in the background."""
    end = time.monotonic() + _IDLE_AT_MOST_S
    while time.monotonic() < end:
        try:
            with open("/sys/block/md0/md/sync_action", encoding="ascii") as file:
                if file.read().strip() == "idle":
                    return
        except OSError:
            return
        time.sleep(0.2)


def findings(place: str) -> list[dict[str, Any]]:
    """Audit a place; only what looks wrong."""
    found = audit(LiveSystem(), [place]).findings
    return [
        each.to_dict() | {"typed": each.remedy.text if each.remedy else ""}
        for each in found
        if each.severity >= Severity.YELLOW
    ]


def mend(layout: dict[str, Any], typed: str) -> list[str]:
    """Paste a remedy into a shell as it was printed, comments and all; gives what failed."""
    failed = failures([typed.replace("/dev/NEW", layout.get("new", "/dev/NEW"))])
    wait_until_idle()
    return failed


def failures(lines: Iterable[str]) -> list[str]:
    """Run lines; gives those that failed, with what they said."""
    answers = [(line, *shell(line, "passphrase\n")) for line in lines]
    return [f"{line}: {said}" for line, code, said in answers if code]


def try_layout(layout: dict[str, Any], result: dict[str, Any]) -> None:
    """Build one layout and look at it from every side."""
    result["failed"] += failures(layout["build"])
    sample = write_sample("/mnt") if os.path.ismount("/mnt") else ""
    result["found"] = findings(layout["place"])
    if "prove" in layout:
        result["proof"] = proof(layout["prove"]["at"])
    if layout.get("mend") and result["found"]:
        for found in result["found"]:
            result["failed"] += mend(layout, found["typed"])
        result["failed"] += failures(layout.get("then", ()))
        result["after"] = findings(layout["place"])
        if "prove" in layout:
            result["proof_after"] = proof(layout["prove"]["at"])
    if layout.get("back") and result["found"]:
        result["failed"] += failures([result["found"][0]["remedy"]["undo"]])
        result["back"] = findings(layout["place"])
    result["is_redundant"] = is_redundant()
    if sample and read_sample("/mnt") != sample:
        result["failed"].append("the data that was written before is not what is read now")


def write_sample(folder: str) -> str:
    """Write random data into a file; gives its checksum."""
    data = os.urandom(_SAMPLE_BYTES)
    try:
        with open(f"{folder}/sample", "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError:
        return ""
    return hashlib.sha256(data).hexdigest()


def read_sample(folder: str) -> str:
    """Give the checksum of what the drives have of the file, not memory."""
    shell("sync; echo 3 > /proc/sys/vm/drop_caches")
    with open(f"{folder}/sample", "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def is_redundant() -> bool:
    """Whether no array and no volume lacks a leg."""
    degraded = shell("cat /sys/block/md*/md/degraded 2> /dev/null")[1].split()
    states = (line.split() for line in shell("dmsetup status --target raid")[1].splitlines())
    legs = [state[6] for state in states if len(state) > 6]
    return all(each == "0" for each in degraded) and all(set(each) == {"A"} for each in legs)


def proof(place: str) -> dict[str, Any]:
    """Prove TRIM; what is refused is part of the result."""
    try:
        return prove_trim(LiveSystem(), place).to_dict()
    except SsdlabError as error:
        return {"refused": str(error)}


def wipe() -> None:
    """Make the drives read as zeroes, as new ones do, and forget their partitions."""
    for name in _DRIVES:
        drive = os.open(f"/dev/{name}", os.O_RDWR)
        try:
            size = os.lseek(drive, 0, os.SEEK_END)
            fcntl.ioctl(drive, _BLKZEROOUT, struct.pack("QQ", 0, size))
            fcntl.ioctl(drive, _BLKRRPART)
        finally:
            os.close(drive)


def report_each(
    items: Iterable[dict[str, Any]],
    carry_out: Callable[[dict[str, Any], dict[str, Any]], None],
    *,
    wipes: bool = True,
) -> None:
    """Carry out and undo each item, wipe the drives, and write what became of it."""
    with open(PORT, "w", encoding="utf-8") as port:
        for item in items:
            start = time.monotonic()
            print(item["name"], flush=True)
            result: dict[str, Any] = {"name": item["name"], "failed": []}
            try:
                carry_out(item, result)
            except Exception:
                result["failed"].append(traceback.format_exc())
            undone = failures(item["undo"])
            # What was never built cannot be undone, and is not held against it.
            if not result["failed"]:
                result["failed"] += undone
            try:
                if wipes:
                    wipe()
            except OSError as error:
                result["failed"].append(f"a drive is still in use: {error}")
            result["seconds"] = round(time.monotonic() - start, 1)
            port.write(json.dumps(result) + "\n")
            port.flush()


def main() -> None:
    """Try every layout."""
    with open("/guest/layouts.json", encoding="utf-8") as file:
        report_each(json.load(file)["layouts"], try_layout)


if __name__ == "__main__":
    main()
