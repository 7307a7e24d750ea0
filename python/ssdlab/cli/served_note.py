"""What verbs say that read the folder of a drive which is being served meanwhile."""

from __future__ import annotations

from pathlib import Path

from ssdlab.cli.console import note
from ssdlab.ground.errors import SsdlabError


def tell_if_served(drive: str) -> None:
    """Say that what is read of a folder is as of its last checkpoint, where a server has it."""
    from ssdlab.live.client import SOCKET, Client

    if not Path(drive, SOCKET).exists():
        return
    client = Client(drive)
    try:
        client.connect()
    except SsdlabError:
        return
    client.close()
    note(
        f"ssdlab: {drive} is being served, and this is as of its last checkpoint; "
        f"ssdlab ctl {drive} checkpoint writes down how it is now"
    )
