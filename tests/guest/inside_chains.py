"""Runs in the guest: carries out chains of commands as printed, mounts and audits, and reports.

One JSON object a line goes to the second serial port. Drives are wiped between chains. What was
typed once is answered with a passphrase, as a user would.
"""

from __future__ import annotations

import json
import time
from typing import Any

from common import failures, findings, shell, wait_until_idle, wipe

_PORT = "/dev/ttyS1"
_LSBLK = "lsblk -J -b -o NAME,TYPE,START,SIZE,LOG-SEC,PHY-SEC,OPT-IO,ALIGNMENT,PARTTYPE"


def carry_out(chain: dict[str, Any]) -> dict[str, Any]:
    """Type what was printed, line by line, and look at what it made."""
    result: dict[str, Any] = {"name": chain["name"], "failed": failures(chain["lines"])}
    result["failed"] += failures([f"mount {chain['top']} /mnt"])
    wait_until_idle()
    result["found"] = findings("/mnt")
    result["lsblk"] = shell(_LSBLK)[1]
    return result


def main() -> None:
    """Carry out every chain."""
    with open("/guest/chains.json", encoding="utf-8") as file:
        chains = json.load(file)
    with open(_PORT, "w", encoding="utf-8") as port:
        for chain in chains:
            start = time.monotonic()
            print(chain["name"], flush=True)
            result = carry_out(chain)
            undone = failures(chain["undo"])
            if not result["failed"]:
                result["failed"] += undone
            try:
                wipe()
            except OSError as error:
                result["failed"].append(f"a drive is still in use: {error}")
            result["seconds"] = round(time.monotonic() - start, 1)
            port.write(json.dumps(result) + "\n")
            port.flush()


main()
