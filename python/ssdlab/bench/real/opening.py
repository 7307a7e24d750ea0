"""From what the user typed to a target, which may be destroyed or only looked at.

`look` is for a dry run: it reads, and says what stands in the way. `open_real` gives a target that
may be destroyed, or refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ssdlab.bench.real.device import DeviceTarget
from ssdlab.bench.real.export import ExportTarget, content_of, permit_uri
from ssdlab.bench.real.nbd import ExportClient
from ssdlab.bench.real.safety import ShowLines, examine, in_use, permit
from ssdlab.bench.real.wishes import Wishes, is_uri
from ssdlab.ground.errors import SsdlabError

RealTarget = DeviceTarget | ExportTarget


@dataclass(frozen=True)
class Prospect:
    """A target that was only looked at, and what stands in the way of more.

    Attributes
    ----------
    target
        It can be described.
    obstacles
        Uses that refuse it, whatever it is named.
    content
        What has to be given up by ``--destroy-content``.
    """

    target: RealTarget
    obstacles: Sequence[str]
    content: Sequence[str]


def look(word: str, wishes: Wishes, show: ShowLines) -> Prospect:
    """Look at a target without permission to write, as a dry run does.

    Raises
    ------
    SsdlabError
        It is not there, or it cannot be told what it holds.
    """
    if is_uri(word):
        return _look_at_export(word, wishes, show)
    found = examine(word, show)
    try:
        target = DeviceTarget(found, purge=wishes.purge, show_serial=wishes.show_serial)
    except SsdlabError:
        # Why it cannot even be read may be that it is in use: that is the better answer.
        if found.claims:
            raise in_use(word, found.claims) from None
        raise
    obstacles = tuple(f"{claim.what}: {claim.remedy}" for claim in found.claims)
    return Prospect(target, obstacles, tuple(str(each) for each in found.content))


def _look_at_export(uri: str, wishes: Wishes, show: ShowLines) -> Prospect:
    client = _connected(uri, show)
    try:
        content = content_of(client)
        target = ExportTarget(client, purge=wishes.purge)
    except BaseException:
        client.close()
        raise
    obstacles = (f"{uri} is read-only",) if client.export.is_read_only else ()
    return Prospect(target, obstacles, tuple(str(each) for each in content))


def open_real(word: str, wishes: Wishes, show: ShowLines) -> RealTarget:
    """Give a target that may be destroyed; it is held until its `release`.

    Parameters
    ----------
    word
        A block device by any of its names, or an NBD URI.
    wishes
        What the user allows.
    show
        Is handed the lines that say which drive it is, before all else.

    Raises
    ------
    SsdlabError
        It is refused, or this machine cannot load it; nothing was written.
    """
    if is_uri(word):
        return _open_export(word, wishes, show)
    permission, examined = permit(word, wishes.destroy, wishes.destroy_content, show)
    try:
        return DeviceTarget(
            examined, permission, purge=wishes.purge, show_serial=wishes.show_serial
        )
    except BaseException:
        permission.close()
        raise


def _open_export(uri: str, wishes: Wishes, show: ShowLines) -> ExportTarget:
    client = _connected(uri, show)
    try:
        permission = permit_uri(client, wishes.destroy, wishes.destroy_content)
        return ExportTarget(client, permission, purge=wishes.purge)
    except BaseException:
        client.close()
        raise


def _connected(uri: str, show: ShowLines) -> ExportClient:
    client = ExportClient(uri)
    show([f"{uri}: {client.export.size_bytes / 1e9:g} GB; an export has no model"])
    return client
