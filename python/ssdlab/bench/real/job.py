"""A user's job on a real target, by fio: what `ssdlab run --target` does.

A job that writes needs a `safety.Permission`, which is checked once more just before fio begins and
held until it has ended. A job that reads needs none: where others use the target, that is told,
since their requests are in the figures. fio is on a leash, and ends with its owner.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from ssdlab.bench.real.export import permit_uri
from ssdlab.bench.real.fio_program import Fio
from ssdlab.bench.real.job_words import RealJob, check_within
from ssdlab.bench.real.nbd import ExportClient
from ssdlab.bench.real.safety import Permission, Refused, ShowLines, examine, permit, permit_file
from ssdlab.bench.real.wishes import Wishes, is_real, is_uri
from ssdlab.engine import Progress
from ssdlab.engine.fio_json.documents import find_document
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile

_BLOCK_BYTES = 4096


@dataclass(frozen=True)
class OpenTarget:
    """A target that jobs may go to, for as long as it is held.

    Attributes
    ----------
    name
        As the user typed it.
    place
        What leads to it, as fio's options.
    permission
        To write; None where it is only read.
    fio
        The program.
    """

    name: str
    place: Sequence[str]
    permission: Permission | None
    fio: Fio

    def through(self, device: str) -> OpenTarget:
        """Return the same target by a device that lies over it, such as a cipher's mapping."""
        return replace(self, place=_way_to(device, self.fio))

    def check(self, job: RealJob) -> None:
        """Refuse what cannot be done to a file.

        Raises
        ------
        SsdlabError
            The job trims, or goes beyond the file's end.
        """
        if not _is_file(self.name):
            return
        if job.trims:
            raise SsdlabError(
                f"{self.name}: a file cannot be trimmed, and the job trims; nothing was done\n"
                f"make a device of it: losetup --find --show {self.name}"
            )
        check_within(job, os.stat(self.name).st_size, self.name)

    def run(
        self, job: RealJob, show: ShowLines, progress: Progress, *, with_bins: bool = False
    ) -> str:
        """Run a job, and return fio's JSON.

        Parameters
        ----------
        show
            Is handed what fio said beside its figures.
        with_bins
            Whether fio keeps the bins of latencies (json+).

        Raises
        ------
        SsdlabError
            fio failed, or the target is another one by now.
        Stopped
            `progress` returned False.
        """
        self.check(job)
        if self.permission is not None:
            self.permission.check()
        elif job.writes:
            raise Refused(f"{self.name}: was opened for reading; nothing was written")
        with tempfile.TemporaryDirectory(prefix="ssdlab-") as folder:
            file = Path(folder) / "job.fio"
            with PendingFile(file, "--target") as pending:
                pending.write(job.text)
            words = [str(file), "--output-format=" + ("json+" if with_bins else "json")]
            words += [] if job.writes else ["--readonly"]
            before = _within_size(self.name) if job.writes else []
            printed = self.fio.printed(words, progress, before)
        # fio may say something beside its JSON.
        found = find_document(printed, "what fio printed")
        show([*found.said, *(each.told() for each in found.unread)])
        return json.dumps(found.content, ensure_ascii=False, indent=2)


def open_target(
    name: str, wishes: Wishes, show: ShowLines, held: ExitStack, *, writes: bool
) -> OpenTarget:
    """Give a target to jobs until `held` is closed.

    Parameters
    ----------
    name
        A block device, a file, or an NBD URI.
    wishes
        What the user allows.
    show
        Is handed lines for the user: which drive it is, who else uses it.
    writes
        Whether any job writes.

    Raises
    ------
    SsdlabError
        It is not there or is refused, and nothing was written; or fio cannot reach it.
    """
    fio = Fio()
    permission = _permission(name, wishes, show, held) if writes else None
    if permission is None:
        _tell_users(name, show)
    return OpenTarget(name, _place(name, fio), permission, fio)


def _permission(name: str, wishes: Wishes, show: ShowLines, held: ExitStack) -> Permission:
    if is_uri(name):
        client = held.enter_context(ExportClient(name))
        return held.enter_context(permit_uri(client, wishes.destroy, wishes.destroy_content))
    if is_real(name):
        permission, _ = permit(name, wishes.destroy, wishes.destroy_content, show)
        return held.enter_context(permission)
    return held.enter_context(permit_file(name, wishes.destroy, wishes.destroy_content))


def _tell_users(target: str, show: ShowLines) -> None:
    """Say who else uses a device that is only read."""
    if is_uri(target) or _is_file(target):
        return
    found = examine(target, show)
    show([f"in use: {each.what}; requests of others are in the figures" for each in found.claims])


def _place(target: str, fio: Fio) -> Sequence[str]:
    if is_uri(target):
        if "nbd" not in fio.engines():
            raise SsdlabError(f"{target}: this {fio.version} has no engine for NBD")
        return ("ioengine=nbd", f"uri={target}", "thread")
    path = Path(target).absolute()
    if not path.exists():
        raise SsdlabError(
            f"--target {target}: no such file or device\n"
            "name a block device, an NBD URI, or a file: fallocate -l 10G FILE makes one"
        )
    return _way_to(str(path), fio)


def _way_to(path: str, fio: Fio) -> Sequence[str]:
    engine = fio.working_engine(path, _BLOCK_BYTES)
    # fio parts file names at colons.
    name = path.replace(":", r"\:")
    return (f"ioengine={engine}", f"filename={name}", "direct=1", "thread")


def _is_file(target: str) -> bool:
    return not is_uri(target) and not is_real(target)


def _within_size(target: str) -> list[str]:
    """Keep fio from making a file larger than it is."""
    if not _is_file(target) or shutil.which("prlimit") is None:
        return []
    return ["prlimit", f"--fsize={os.stat(target).st_size}"]
