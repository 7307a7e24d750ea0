"""What verbs read of a drive that may be served meanwhile, and what they say of that."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssdlab.cli.console import note
from ssdlab.ground.errors import SsdlabError


def is_served(drive: str) -> bool:
    """Tell whether a server has this folder."""
    from ssdlab.live.client import SOCKET, Client

    if not Path(drive, SOCKET).exists():
        return False
    client = Client(drive)
    try:
        client.connect()
    except SsdlabError:
        return False
    client.close()
    return True


def shown_now(drive: str) -> dict[str, Any]:
    """Return what `engine.show` tells; of a folder that is served, the health as it is now.

    Raises
    ------
    SsdlabError
        There is no such drive, or its power is off.
    """
    from ssdlab import engine
    from ssdlab.live.client import Client

    shown = engine.show(drive)
    if not is_served(drive):
        return shown
    client = Client(drive)
    told = client.get("/stats")
    client.close()
    if told.get("power") == "off":
        raise SsdlabError(f"{drive}: its power is off\nturn it on: ssdlab ctl {drive} power-on")
    return {**shown, "health": told["health"]}


def serial_of(drive: str) -> str:
    """Return the serial number of a drive: of one in a folder, that which NVMe hosts see."""
    from ssdlab.live.served import nvme_of
    from ssdlab.machine.health.simulated import SERIAL

    return nvme_of(Path(drive), [], "", "").serial if Path(drive).is_dir() else SERIAL


def smart_document(
    drive: str, shown: Mapping[str, Any], device: str = "", firmware: str = ""
) -> dict[str, Any]:
    """Return what smartctl would print as JSON of a drive that is shown; see `smart_json`."""
    from ssdlab.machine.health.past import past_of
    from ssdlab.machine.health.simulated import smart_json

    return smart_json(shown, device or drive, serial_of(drive), firmware, past_of(drive))


def tell_if_served(drive: str) -> None:
    """Say that what is read of a folder is as of its last checkpoint, where a server has it."""
    if not is_served(drive):
        return
    note(
        f"ssdlab: {drive} is being served, and this is as of its last checkpoint; "
        f"ssdlab ctl {drive} checkpoint writes down how it is now"
    )
