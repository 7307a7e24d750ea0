"""Runs in the guest: carries out chains of commands as printed, mounts and audits, and reports.

One JSON object a line goes to the second serial port. Drives are wiped between chains. What was
typed once is answered with a passphrase, as a user would.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from common import failures, findings, report_each, shell, wait_until_idle

_LSBLK = "lsblk -J -b -o NAME,TYPE,START,SIZE,LOG-SEC,PHY-SEC,OPT-IO,ALIGNMENT,PARTTYPE"
_CRYPTSETUP = Path("/bin/cryptsetup")
_ITS_OWN = Path("/bin/cryptsetup.debian")


def stretch_passphrases_briefly() -> None:
    """Add options to each luksFormat: deriving a key for two seconds would show nothing here."""
    _CRYPTSETUP.rename(_ITS_OWN)
    briefly = "--pbkdf pbkdf2 --pbkdf-force-iterations 1000"
    _CRYPTSETUP.write_text(
        f'#!/bin/bash\n[[ $1 == luksFormat ]] && set -- "$@" {briefly}\nexec {_ITS_OWN} "$@"\n'
    )
    _CRYPTSETUP.chmod(0o755)


def carry_out(chain: dict[str, Any], result: dict[str, Any]) -> None:
    """Type what was printed, line by line, and look at what it made."""
    result["failed"] += failures(chain["lines"])
    result["failed"] += failures([f"mount {chain['top']} /mnt"])
    wait_until_idle()
    result["found"] = findings("/mnt")
    result["lsblk"] = shell(_LSBLK)[1]


def main() -> None:
    """Carry out every chain."""
    stretch_passphrases_briefly()
    with open("/guest/chains.json", encoding="utf-8") as file:
        report_each(json.load(file), carry_out)


main()
