"""An NBD export as a target of the performance test; loaded by fio's engine ``nbd``.

Only the server knows what is behind the export. NBD has no write cache to switch, no temperature
and no log, so these are left out, and only fio counts the bytes written. The export is purged by
NBD's trim where the server takes it. Its first and last MiB are searched for signatures.
"""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence

from ssdlab.bench.plan import Deviation
from ssdlab.bench.real.content import RunCommand, Signature, signatures_at
from ssdlab.bench.real.device import purged
from ssdlab.bench.real.fio_program import Fio
from ssdlab.bench.real.fio_words import Place
from ssdlab.bench.real.loaded import IDLE_BETWEEN_STEPS, LoadedTarget
from ssdlab.bench.real.loading import Loader
from ssdlab.bench.real.nbd import ExportClient
from ssdlab.bench.real.purge import DriveAnswer
from ssdlab.bench.real.safety import Permission, Refused, permit_export
from ssdlab.bench.real.samples import ExportBlocks, Samples
from ssdlab.bench.real.surroundings import surroundings_of_machine
from ssdlab.bench.target import Counters, Description, Purged, WriteCache
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.tool import run_to_end

_EDGE_BYTES = 1 << 20
_SECTOR_BYTES = 512
_SAMPLE_BYTES = 4096
_WAYS = ("best", "discard", "none")


def content_of(client: ExportClient, run: RunCommand = run_to_end) -> list[Signature]:
    """List what an export holds, by a file that has the same beginning and end.

    Raises
    ------
    SsdlabError
        It cannot be read, or it cannot be told what it holds.
    """
    size = client.export.size_bytes
    with tempfile.NamedTemporaryFile(prefix="ssdlab-") as file:
        edge = min(_EDGE_BYTES, size)
        file.write(client.read(0, edge))
        file.truncate(size)
        file.seek(size - edge)
        file.write(client.read(size - edge, edge))
        file.flush()
        found = signatures_at(file.name, run)
    return [Signature(client.uri, each.kind, each.offset_bytes, each.label) for each in found]


def permit_uri(
    client: ExportClient, destroy: Sequence[str], destroy_content: Sequence[str] = ()
) -> Permission:
    """Give permission to destroy what is on an export.

    Raises
    ------
    SsdlabError
        It is not named, is read-only, holds something, or cannot be read.
    """
    if client.export.is_read_only:
        raise Refused(f"{client.uri}: is read-only; nothing was written")
    size = client.export.size_bytes
    if size < _SAMPLE_BYTES:
        raise Refused(f"{client.uri}: has {size} bytes, too few to test; nothing was written")
    return permit_export(client.uri, size, content_of(client), destroy, destroy_content)


class ExportTarget(LoadedTarget):
    """An NBD export, loaded by fio.

    Parameters
    ----------
    client
        A connection to it, which is closed with the target.
    permission
        Permission to destroy it (`permit_uri`); without it, it can only be described.
    fio
        The program.
    purge
        ``best`` or ``discard``: by trim; ``none``: not at all.

    Raises
    ------
    SsdlabError
        This fio has no engine for NBD, or an export is not purged so.
    """

    def __init__(
        self,
        client: ExportClient,
        permission: Permission | None = None,
        *,
        fio: Fio | None = None,
        purge: str = "best",
    ) -> None:
        self._client, self._wish = client, purge
        fio = fio or Fio()
        if purge not in _WAYS:
            raise SsdlabError(f"--purge {purge}: an export takes {', '.join(_WAYS)}")
        if "nbd" not in fio.engines():
            raise SsdlabError(
                f"{client.uri}: this {fio.version} has no engine for NBD\n"
                "install a fio that was built with libnbd (Debian's is), or attach the export: "
                "nbd-client"
            )
        place = Place("nbd", (f"--uri={client.uri}",), client.export.size_bytes)
        super().__init__(client.uri, permission, Loader(fio, place, lambda: None))

    def describe(self) -> Description:
        """Say what it is, as far as its server tells."""
        export = self._client.export
        return Description(
            kind="nbd",
            name=self._client.uri,
            model="",
            serial="",
            firmware="",
            capacity_bytes=export.size_bytes,
            sector_bytes=max(_SECTOR_BYTES, export.smallest_bytes),
            surroundings={
                **surroundings_of_machine(),
                "fio": self._loader.fio.version,
                "engine": "nbd",
                "takes_trim": export.trims,
                "takes_flush": export.flushes,
            },
        )

    def deviations(self) -> tuple[Deviation, ...]:
        """Say what an export and fio cannot do as the standard asks."""
        return (
            IDLE_BETWEEN_STEPS,
            Deviation(
                "the volatile write cache is disabled (PTS-E)",
                "NBD has no switch for it, and does not tell whether the server has a cache",
            ),
        )

    def purge(self) -> Purged:
        """Discard all of it, and look whether what was written before is gone."""
        permission = self._permission()
        blocks = ExportBlocks(permission, self._client)
        chance = random.SystemRandom().getrandbits(64)
        size = max(_SAMPLE_BYTES, self._client.export.smallest_bytes)
        samples = Samples(blocks, permission.size_bytes, size, chance)
        samples.mark()
        answer = None
        if self._wish != "none" and self._client.export.trims:
            permission.check()
            self._client.trim()
            count = permission.size_bytes
            answer = DriveAnswer(f"NBD trim of {self._client.uri}", f"{count} bytes were trimmed")
        return purged(answer, samples.look(), given_up=permission.given_up)

    def counters(self) -> Counters | None:
        """Give none: an export has no log."""
        return None

    def write_cache_off(self) -> WriteCache:
        """Say that nothing is known of one."""
        return WriteCache("none", "none")

    def restore_write_cache(self) -> None:
        """Leave it, as nothing was switched."""

    def close(self) -> None:
        """Hold on to the export until `release`."""

    def release(self) -> None:
        """Let go of the export."""
        if self._given is not None:
            self._given.close()
        self._client.close()
