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
from dataclasses import dataclass
from pathlib import Path

from ssdlab.bench.real.export import permit_uri
from ssdlab.bench.real.fio_program import Fio
from ssdlab.bench.real.job_words import RealJob, check_within, for_target
from ssdlab.bench.real.nbd import Client
from ssdlab.bench.real.safety import Permission, Show, examine, permit, permit_file
from ssdlab.bench.real.wishes import Wishes, is_real, is_uri
from ssdlab.engine import Progress
from ssdlab.engine.fio_json.documents import find_document
from ssdlab.ground.errors import SsdlabError

_BLOCK_BYTES = 4096


@dataclass(frozen=True)
class TargetJob:
    """What the user asked for.

    Attributes
    ----------
    target
        A block device, a file, or an NBD URI.
    text, name, flags
        The job, as for a simulated run.
    with_bins
        Whether fio keeps the bins of latencies (json+).
    wishes
        What the user allows.
    """

    target: str
    text: str | None
    name: str
    flags: tuple[str, ...]
    with_bins: bool
    wishes: Wishes


def run_job(asked: TargetJob, show: Show, progress: Progress) -> str:
    """Run a job, and return fio's JSON.

    Parameters
    ----------
    show
        Is handed lines for the user: which drive it is, what was left out, who else uses it.

    Raises
    ------
    SsdlabError
        The job is wrong, the target is refused, or fio failed; where it is refused, nothing was
        written.
    Stopped
        `progress` returned False.
    """
    fio = Fio()
    job = for_target(asked.text, asked.name, asked.flags, ())
    with ExitStack() as held:
        permission = _permission(asked, show, held) if job.writes else None
        if permission is None:
            _tell_users(asked.target, show)
        job = for_target(asked.text, asked.name, asked.flags, _place(asked.target, fio))
        show(job.notices)
        if not is_uri(asked.target) and not is_real(asked.target):
            check_within(job, os.stat(asked.target).st_size, asked.target)
        if permission is not None:
            permission.check()
        return _performed(asked, job, fio, show, progress)


def _permission(asked: TargetJob, show: Show, held: ExitStack) -> Permission:
    wishes = asked.wishes
    if is_uri(asked.target):
        client = held.enter_context(Client(asked.target))
        return held.enter_context(permit_uri(client, wishes.destroy, wishes.destroy_content))
    if is_real(asked.target):
        permission, _ = permit(asked.target, wishes.destroy, wishes.destroy_content, show)
        return held.enter_context(permission)
    return held.enter_context(permit_file(asked.target, wishes.destroy, wishes.destroy_content))


def _tell_users(target: str, show: Show) -> None:
    """Say who else uses a device that is only read."""
    if is_uri(target) or not is_real(target):
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
    engine = fio.working_engine(str(path), _BLOCK_BYTES)
    # fio parts file names at colons.
    name = str(path).replace(":", r"\:")
    return (f"ioengine={engine}", f"filename={name}", "direct=1", "thread")


def _performed(asked: TargetJob, job: RealJob, fio: Fio, show: Show, progress: Progress) -> str:
    with tempfile.TemporaryDirectory(prefix="ssdlab-") as folder:
        file = Path(folder) / "job.fio"
        file.write_text(job.text)
        form = "json+" if asked.with_bins else "json"
        words = [str(file), f"--output-format={form}", "--eta=never"]
        words += [] if job.writes else ["--readonly"]
        before = _within_size(asked.target) if job.writes else []
        printed = fio.printed(words, lambda: progress("fio", 0.0), before)
    # fio may say something beside its JSON.
    found = find_document(printed, "what fio printed")
    show([*found.said, *(each.told() for each in found.unread)])
    return json.dumps(found.content, ensure_ascii=False, indent=2)


def _within_size(target: str) -> list[str]:
    """Keep fio from making a file larger than it is."""
    if is_uri(target) or is_real(target) or shutil.which("prlimit") is None:
        return []
    return ["prlimit", f"--fsize={os.stat(target).st_size}"]
