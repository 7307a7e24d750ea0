"""Runs in the guest: builds each layout, audits it, mends it, proves TRIM, and reports.

One JSON object a line goes to the second serial port. Drives are wiped between layouts.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
import traceback
from typing import Any

from ssdlab.audit import LiveSystem, Severity, audit
from ssdlab.audit.prove_trim import prove_trim
from ssdlab.errors import SsdlabError

_PORT = "/dev/ttyS1"
_DRIVES = "abcde"
_IDLE_AT_MOST_S = 60.0


def shell(line: str, answer: str = "") -> tuple[int, str]:
    """Run one line; ``idle`` waits until no array is being synchronised."""
    if line == "idle":
        wait_until_idle()
        return 0, ""
    done = subprocess.run(
        ["/bin/bash", "-c", line], input=answer, capture_output=True, text=True, check=False
    )
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


def findings(place: str) -> list[dict[str, str]]:
    """Audit a place; what is green is left out."""
    found = audit(LiveSystem(), [place]).findings
    return [each.to_dict() for each in found if each.severity > Severity.GREEN]


def mend(remedy: str) -> list[str]:
    """Type a remedy as printed; gives what failed. Comments wait, as a person would."""
    failed = []
    for line in remedy.splitlines():
        if line.startswith("#"):
            wait_until_idle()
        elif not line.startswith("systemctl"):
            code, said = shell(line, "passphrase\n")
            if code:
                failed.append(f"{line}: {said}")
    wait_until_idle()
    return failed


def try_layout(layout: dict[str, Any], result: dict[str, Any]) -> None:
    """Build one layout and look at it from every side."""
    for line in layout["build"]:
        code, said = shell(line)
        if code:
            result["failed"].append(f"{line}: {said}")
    result["found"] = findings(layout["place"])
    if "prove" in layout:
        result["proof"] = proof(layout["prove"]["at"])
    if layout.get("mend") and result["found"]:
        result["failed"] += mend(result["found"][0]["remedy"])
        result["after"] = findings(layout["place"])


def undo(layout: dict[str, Any], result: dict[str, Any]) -> None:
    """Take a layout apart; what was never built cannot be, and is not held against it."""
    for line in layout["undo"]:
        code, said = shell(line)
        if code and not result["failed"]:
            result["failed"].append(f"{line}: {said}")


def proof(place: str) -> dict[str, Any]:
    """Prove TRIM; what is refused is part of the result."""
    try:
        return prove_trim(LiveSystem(), place).to_dict()
    except SsdlabError as error:
        return {"refused": str(error)}


def wipe() -> None:
    """Take everything off the drives."""
    for letter in _DRIVES:
        for name in (f"/dev/vd{letter}1", f"/dev/vd{letter}"):
            if os.path.exists(name):
                shell(f"wipefs -q -a {name}")
        shell(f"blockdev --rereadpt /dev/vd{letter}")


def main() -> None:
    """Try every layout."""
    with open("/guest/layouts.json", encoding="utf-8") as file:
        layouts = json.load(file)["layouts"]
    with open(_PORT, "w", encoding="utf-8") as port:
        for layout in layouts:
            start = time.monotonic()
            result: dict[str, Any] = {"name": layout["name"], "failed": []}
            try:
                try_layout(layout, result)
            except Exception:
                result["failed"].append(traceback.format_exc())
            undo(layout, result)
            wipe()
            result["seconds"] = round(time.monotonic() - start, 1)
            port.write(json.dumps(result) + "\n")
            port.flush()


if __name__ == "__main__":
    main()
