"""Conditioned drives, kept for reuse in the user's cache folder.

Preconditioning a large drive takes minutes. The drive that it leaves depends on the profile with
its settings, the condition, the seed, the span, the way that makes it steady, and the engine; under
a job's own writes on these, too, under uniform ones only on how far the data compress, so that all
jobs and verbs share it. A hash of all of these names the drive file, so that a file is either right
or not there. Layers lie over the drive of a file; several drives are not kept.

The folder is ``ssdlab`` in ``$XDG_CACHE_HOME`` or ``~/.cache``, or what ``SSDLAB_CACHE`` names. It
holds at most ``SSDLAB_CACHE_BYTES`` (10 GB) of them; the files used longest ago go first. However
many runs of a machine want a drive at once, one of them makes it. A run goes on without the cache
where the folder cannot be written to or the disk is nearly full. Files that a worker of a sweep was
sent lie there, too (`study/sweeps/sent.py`).
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import json
import os
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ssdlab import engine
from ssdlab.engine import Progress
from ssdlab.engine.conditions import BY_JOB, UNIFORM, is_steady
from ssdlab.engine.policy_setting import contents, is_function
from ssdlab.engine.request import RunRequest
from ssdlab.engine.shown import sizes
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.input import InputError, read_text
from ssdlab.ground.lock import locked
from ssdlab.ground.output import PendingFile

MOST_BYTES = 10_000_000_000
"""What the folder holds at most, where ``SSDLAB_CACHE_BYTES`` says nothing else."""

_BYTES_LEFT_FREE = 1_000_000_000
"""What a new file leaves free on the disk."""


@dataclass(frozen=True)
class Entry:
    """A drive in the cache."""

    path: Path
    drive: str
    condition: str
    seed: int
    size_bytes: int
    used_at: float
    """Seconds since 1970."""
    made_by: str
    """What was asked for besides drive, condition and seed, as options; empty where nothing was."""


def folder() -> Path:
    """Return the cache's folder, which need not exist."""
    if named := os.environ.get("SSDLAB_CACHE"):
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "ssdlab"


def most_bytes() -> int:
    """Return what the folder holds at most.

    Raises
    ------
    SsdlabError
        ``SSDLAB_CACHE_BYTES`` is no number of bytes.
    """
    text = os.environ.get("SSDLAB_CACHE_BYTES", str(MOST_BYTES))
    if not text.isdecimal():
        raise SsdlabError(
            f"SSDLAB_CACHE_BYTES={text}: must be a number of bytes, such as 10000000000"
        )
    return int(text)


def entries() -> list[Entry]:
    """Return what is in the cache, the drive used last first."""
    try:
        found = [_entry(path) for path in folder().glob("*.ssd")]
    except OSError:
        return []
    present = [entry for entry in found if entry is not None]
    return sorted(present, key=lambda entry: entry.used_at, reverse=True)


def clear() -> int:
    """Remove all that is in the cache; return how many bytes that were."""
    present = entries()
    for entry in present:
        _remove(entry)
    freed = sum(entry.size_bytes for entry in present)
    for sent in (folder() / "files").glob("*/*"):
        with suppress(OSError):
            freed += sent.stat().st_size
            sent.unlink()
    return freed


def run_conditioned(request: RunRequest, progress: Progress | None = None) -> str:
    """Run a job as `engine.run` does, on a drive from the cache where it needs a condition.

    Parameters
    ----------
    request
        The run.
    progress
        As for `engine.run`, also while the drive is preconditioned.

    Returns
    -------
    str
        fio's JSON, the same with the cache and without.
    """
    return engine.run(conditioned(request, progress), progress)


def conditioned(request: RunRequest, progress: Progress | None = None) -> RunRequest:
    """Return the same run on a drive file that is in the condition already, where one can be kept.

    Parameters
    ----------
    request
        A run whose `condition` may have to be brought about.
    progress
        As for `engine.run`, while the drive is preconditioned.
    """
    if not _can_be_kept(request) or (path := _path(request)) is None:
        return request
    if path.exists():
        # Another user's file, or one that has just been cleared, keeps its time.
        with suppress(OSError):
            os.utime(path)
    elif not _kept_once(request, path, progress):
        return request
    on_file = request.on(str(path))
    # What setting layers up writes is left out over a drive that was written whole afterwards.
    return replace(on_file, condition=request.condition) if request.layers else on_file


def _can_be_kept(request: RunRequest) -> bool:
    """Only a single drive that starts from its profile, and is not fresh, is worth keeping.

    What a function of this process does is in no key.
    """
    wanted = request.cache and request.condition not in (None, "fresh") and not request.start_over
    is_lasting = not is_function(request.settings)
    return wanted and is_lasting and _is_one_drive(request) and not request.drive.endswith(".ssd")


def _is_one_drive(request: RunRequest) -> bool:
    """Tell whether what is preconditioned is one drive by itself.

    Layers do not matter where that is done by uniform writes over all of it.
    """
    if not request.layers:
        return True
    if request.condition != UNIFORM or request.span != 1:
        return False
    shown = engine.show(request.drive, request.settings, request.layers, request.scale)
    return sizes(shown).drives == 1


def _path(request: RunRequest) -> Path | None:
    """Where the drive of a request lies in the cache; None where it cannot lie there."""
    shown = engine.show(request.drive, request.settings, scale=request.scale)
    if "layers" in shown or shown["drive_file"] is not None:
        return None
    jobs = (request.job_text, request.flags) if request.condition == BY_JOB else None
    shapes = {
        "engine": engine_hash(),
        "name": shown["name"],
        "parameters": shown["parameters"],
        "settings": request.settings,
        "condition": request.condition,
        "span": request.span,
        "seed": request.seed,
        "jobs": jobs,
        "compress_percent": engine.compress_percent(request),
        "exact": request.exact and is_steady(request.condition),
        "policy": contents(request.settings),
    }
    key = hashlib.sha256(json.dumps(shapes, sort_keys=True).encode()).hexdigest()[:24]
    return folder() / f"{shown['name']}+{request.condition}+{request.seed}+{key}.ssd"


@functools.cache
def engine_hash() -> str:
    """Hash of the compiled engine, whose every change may change a drive."""
    found = importlib.util.find_spec("ssdlab._engine")
    assert found is not None and found.origin is not None, "the engine has been loaded"
    return hashlib.sha256(Path(found.origin).read_bytes()).hexdigest()


def _kept_once(request: RunRequest, path: Path, progress: Progress | None) -> bool:
    """Keep the drive; who wants it meanwhile, in whatever process, waits for it.

    Raises
    ------
    Stopped
        `progress` returned False while somebody else was at it.
    """

    def waits() -> bool:
        if progress is not None and not progress("wait", 0.0):
            raise Stopped
        return not path.exists()

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with locked(path.with_suffix(".lock"), waits):
            return path.exists() or _keep(request, path, progress)
    except OSError:
        return False


def _keep(request: RunRequest, path: Path, progress: Progress | None) -> bool:
    """Precondition the drive into the cache; False where there is no room for it."""
    needed = _file_bytes(engine.show(request.drive, request.settings, scale=request.scale))
    if needed > most_bytes():
        return False
    try:
        has_room = shutil.disk_usage(path.parent).free > needed + _BYTES_LEFT_FREE
    except OSError:
        return False
    if not has_room or not os.access(path.parent, os.W_OK):
        return False
    _make_room(needed)
    try:
        engine.precondition(request, str(path), progress)
    except SsdlabError:
        # Another process may have put the same drive there meanwhile, or the disk is full: the run
        # without the cache meets, and tells, what is wrong with the drive itself.
        return path.exists()
    with suppress(SsdlabError):
        PendingFile(_note(path)).write(_made_by(request))
    return True


def _note(path: Path) -> Path:
    """Return the file beside a drive that says how it was made, for people who list them."""
    return path.with_suffix(".txt")


def _made_by(request: RunRequest) -> str:
    """Return what was asked for besides drive, condition and seed, as options."""
    words = [f"--set {key}={value}" for key, value in request.settings]
    if request.scale is not None:
        words.append(f"--scale {request.scale}")
    if request.span != 1:
        words.append(f"--span {request.span:.6g}")
    if request.exact:
        words.append("--exact")
    if request.job_text is not None:
        words.append(request.job_name)
    return " ".join([*words, *request.flags])


def _remove(entry: Entry) -> None:
    entry.path.unlink(missing_ok=True)
    _note(entry.path).unlink(missing_ok=True)


def _file_bytes(shown: dict[str, Any]) -> int:
    """About what a drive file takes: the map, and a tenth for the rest; 0 for a hard disk."""
    found = sizes(shown)
    return found.flash.map_bytes * 11 // 10 if found.has_flash else 0


def _make_room(needed: int) -> None:
    """Remove the drives used longest ago until so many bytes fit beside the others."""
    room = most_bytes() - needed
    for entry in entries():
        room -= entry.size_bytes
        if room < 0:
            _remove(entry)


def _entry(path: Path) -> Entry | None:
    """Read a file's name and figures; None for one that is not ours or has just gone."""
    parts = path.stem.rsplit("+", 3)
    if len(parts) != 4 or not parts[2].lstrip("-").isdecimal():
        return None
    try:
        figures = path.stat()
    except OSError:
        return None
    try:
        made_by = read_text(_note(path))
    except (OSError, InputError):
        made_by = ""
    seed, size, used_at = int(parts[2]), figures.st_size, figures.st_mtime
    return Entry(path, parts[0], parts[1], seed, size, used_at, made_by)
