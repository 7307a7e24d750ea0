"""The compiled engine, typed: text in, text out, and its errors as ours.

The engine is loaded when it is first needed, so that result files can be compared and drawn on a
machine where it was never built. It works in a thread of its own, so that Ctrl-C raises
KeyboardInterrupt at once; `progress` is called there.
"""

from __future__ import annotations

import importlib
import json
import threading
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from ssdlab.engine import guarded
from ssdlab.engine.conditions import BY_JOB, UNIFORM
from ssdlab.engine.failures import with_failures
from ssdlab.engine.request import RunRequest, Settings, whole
from ssdlab.engine.shown import parameters
from ssdlab.ground.errors import KINDS, SsdlabError, Stopped
from ssdlab.ground.output import Nowhere, PendingFile

Progress = Callable[[str, float], bool]
"""Called with a phase and the share of it that is done; returns False to stop."""

T = TypeVar("T")
_GRACE_S = 0.5
"""After Ctrl-C the engine has so long to end before KeyboardInterrupt is raised without it."""

START_OVER = ("secure-erase", "crypto-erase", "trim", "overwrite")
"""How a drive starts over."""


def load() -> Any:
    """Return the compiled engine.

    Raises
    ------
    SsdlabError
        It was never built.
    """
    try:
        return importlib.import_module("ssdlab._engine")
    except ImportError as error:
        raise SsdlabError(
            f"the compiled engine is missing ({error})\nbuild it with: make install"
        ) from None


def ask(call: Callable[[Any, Progress], T], progress: Progress | None = None) -> T:
    """Ask the engine something; its errors become ours."""
    engine = load()
    stop = threading.Event()

    def told(phase: str, share: float) -> bool:
        goes_on = guarded.tell(".") and not stop.is_set()
        return goes_on and (progress is None or progress(phase, share))

    guarded.tell("+")
    try:
        return _interruptible(lambda: call(engine, told), stop)
    except engine.EngineError as error:
        raise SsdlabError(str(error)) from None
    except engine.Cancelled:
        raise Stopped from None
    except UnicodeEncodeError as error:
        raise SsdlabError(f"{error.object!a}: not UTF-8; give another name") from None
    finally:
        guarded.tell("-")


def ask_at_once(call: Callable[..., T], *given: Any) -> T:
    """Ask what the engine answers at once, on this thread; its errors become ours.

    Parameters
    ----------
    call, *given
        A method of something that the engine made, and what it takes.
    """
    engine = load()
    try:
        return call(*given)
    except engine.DiskError as error:
        kind, message = error.args
        raise KINDS[kind](message) from None
    except engine.EngineError as error:
        raise SsdlabError(str(error)) from None


def _interruptible(call: Callable[[], T], stop: threading.Event) -> T:
    """Do it in a thread beside the main one, which alone hears of signals, and so hears at once."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    answer: list[T] = []
    failure: list[BaseException] = []
    done = threading.Event()

    def work() -> None:
        try:
            answer.append(call())
        except BaseException as error:
            failure.append(error)
        finally:
            done.set()

    # A daemon: the interpreter does not wait for it either.
    thread = threading.Thread(target=work, name="ssdlab engine", daemon=True)
    try:
        thread.start()
        done.wait()
    except KeyboardInterrupt:
        # It mostly ends within milliseconds; if not, it ends by itself when it is next asked.
        stop.set()
        thread.join(_GRACE_S)
        raise
    if failure:
        raise failure[0]
    return answer[0]


def _object(text: str) -> dict[str, Any]:
    decoded = json.loads(text)
    assert isinstance(decoded, dict), "the engine answers with one JSON object"
    return decoded


def version() -> str:
    """Version of the engine, which is the version of the package."""
    return ask(lambda engine, _: str(engine.version()))


def profiles() -> list[dict[str, Any]]:
    """Return the profiles that come with the package, one object each."""
    decoded = json.loads(ask(lambda engine, _: str(engine.profiles())))
    assert isinstance(decoded, list), "the engine answers with a JSON list"
    return decoded


def layers() -> list[dict[str, Any]]:
    """Return the kinds of layers that can lie over a drive, one object each."""
    decoded = json.loads(ask(lambda engine, _: str(engine.layers())))
    assert isinstance(decoded, list), "the engine answers with a JSON list"
    return decoded


def show(
    drive: str, settings: Settings = (), layers: Sequence[str] = (), scale: str | None = None
) -> dict[str, Any]:
    """Return every parameter of a drive and its layers with its source, and what follows."""
    given = (drive, list(settings), list(layers), scale)
    return _object(ask(lambda engine, _: str(engine.show(*given))))


def memory_bytes(
    drive: str, settings: Settings = (), layers: Sequence[str] = (), scale: str | None = None
) -> int:
    """Return what the simulation of a drive, or of a stack, takes of memory at most, in bytes."""
    return int(show(drive, settings, layers, scale)["memory_bytes"])


def run(request: RunRequest, progress: Progress | None = None) -> str:
    """Run a job.

    Returns
    -------
    str
        fio's JSON with our object in each job, exactly as the engine wrote it; if requests failed,
        that is said among the notices (`failures`).

    Raises
    ------
    SsdlabError
        What the user can mend.
    Stopped
        `progress` returned False.
    """
    asked = request.to_json()
    return with_failures(
        ask(lambda engine, told: str(engine.run(asked, told, PendingFile)), progress)
    )


def check_job(job_text: str | None, job_name: str, flags: Sequence[str]) -> dict[str, Any]:
    """Read a job without running it.

    Returns
    -------
    dict
        ``jobs``, their names; ``notices``, a sentence each; ``compress_percent``, how far what they
        write can be compressed; ``stationary``, whether all run together and any stretch of them is
        like any other on a drive that is steady under them; ``scales``, whether they work on the
        same share of any drive, uniformly or in sequence.

    Raises
    ------
    SsdlabError
        All that is wrong with it.
    """
    return _object(ask(lambda engine, _: str(engine.check_job(job_text, job_name, list(flags)))))


def survey_trace(
    path: str, device: str | None = None, progress: Progress | None = None
) -> dict[str, Any]:
    """Read a trace to its end, and count what it holds.

    Parameters
    ----------
    path
        An iolog of fio, the text of blkparse, or the CSV of a published block trace; packed with
        gzip or zstd, or not.
    device
        Of several devices, this one.
    progress
        As for `run`; the share is not known.

    Returns
    -------
    dict
        ``format``, ``packed_with``, ``device``, ``requests``; ``reads``, ``writes``, ``trims`` and
        ``flushes`` with ``requests`` and ``bytes``; ``left_out``, the requests that cannot be
        replayed; ``end_bytes``, ``duration_ns``, ``in_order``.

    Raises
    ------
    SsdlabError
        The first line that cannot be read.
    Stopped
        `progress` returned False.
    """
    return _object(ask(lambda engine, told: str(engine.survey_trace(path, device, told)), progress))


def render(result: str, output_format: str) -> str:
    """Write a result as fio's ``normal`` or ``terse`` text, or as ``json`` without histograms."""
    return ask(lambda engine, _: str(engine.render(result, output_format)))


def make_folder(
    request: RunRequest, folder: Path, image: str | None, progress: Progress | None = None
) -> None:
    """Make a folder with the drive of a request, in its condition, as `ssdlab serve` has it.

    Parameters
    ----------
    request
        The drive, its settings and condition.
    folder
        Where nothing is yet, or an empty folder.
    image
        A raw disk image as long as the drive; None for zeroes.
    progress
        As for `run`.
    """
    asked = request.to_json()
    ask(lambda engine, told: engine.make_folder(asked, folder, image, told), progress)


def check_folder(folder: Path) -> dict[str, Any]:
    """Look at the folder of a drive, whoever serves it; nothing changes there.

    Returns
    -------
    dict
        ``opens``, whether the drive would; ``faults``, each with ``file``, ``what``, ``remedy`` and
        ``unknown`` where it could not be looked at; ``files`` with their lengths; ``drive`` as it
        would be, ``served_by``, ``put_away``, ``units_written``, ``units_trimmed`` and more.

    Raises
    ------
    SsdlabError
        It is no folder of a drive.
    """
    told: dict[str, Any] = json.loads(ask_at_once(load().check_folder, folder))
    return told


def replay_log(folder: Path) -> dict[str, Any] | None:
    """Play a log of commands again.

    Returns
    -------
    dict or None
        ``drive``, ``commands``, ``ends`` and ``cuts``, each as `ssdlab ctl lost` has it; None where
        the folder holds no log.

    Raises
    ------
    SsdlabError
        The log is of another drive or version, was changed, or cannot be read.
    """
    told = ask_at_once(load().replay_log, folder)
    return None if told is None else dict(json.loads(told))


def season(request: RunRequest, progress: Progress | None = None) -> dict[str, Any]:
    """Start a drive over, bring it into a condition, or both, and save it as a drive file.

    Parameters
    ----------
    request
        Its job, if it has one, makes the drive steady; `save` is where the drive is kept.
    progress
        As for `run`.

    Returns
    -------
    dict
        ``condition``, ``started_over``, ``rounds`` and the like; ``way`` says how steady state came
        about, where a scale model was allowed.
    """
    asked = request.to_json()
    return _object(ask(lambda engine, told: str(engine.season(asked, told, PendingFile)), progress))


def seasoning(request: RunRequest, progress: Progress | None = None) -> dict[str, Any]:
    """Do as `season`, and tell of it as `season` does, but keep no drive file."""
    asked = replace(request, save="nowhere").to_json()
    return _object(ask(lambda engine, told: str(engine.season(asked, told, Nowhere)), progress))


def precondition(request: RunRequest, save: str, progress: Progress | None = None) -> None:
    """Bring the drive of a run into the run's condition and save it as a drive file.

    The run's own writes make it steady where that is asked for; layers play no part.
    """
    asked = replace(request, layers=(), save=save)
    if request.condition == BY_JOB:
        season(asked, progress)
        return
    percent = compress_percent(request)
    compressible = (f"--buffer_compress_percentage={percent}", "--rw=randwrite") if percent else ()
    season(replace(asked, job_text=None, flags=compressible), progress)


def compress_percent(request: RunRequest) -> int:
    """Return how far a job's writes can be compressed; 0 where that changes no drive."""
    if request.condition != UNIFORM or not (request.job_text or request.flags):
        return 0
    values = parameters(show(request.drive, request.settings))
    if values.get("controller.compression") not in (True, "true"):
        return 0
    return int(check_job(request.job_text, request.job_name, request.flags)["compress_percent"])


def scenario(
    request: RunRequest, name: str, values: Settings = (), progress: Progress | None = None
) -> dict[str, Any]:
    """Run a scenario (what a person does with files) on a drive or a stack.

    Parameters
    ----------
    request
        The drive, and the condition to bring it into first; a job of its own only makes it steady.
    name
        The scenario's.
    values
        What differs from it by dotted key, such as ``state=fragmented``.
    progress
        As for `run`, while the drive is preconditioned.

    Returns
    -------
    dict
        ``scenario`` with ``elapsed_s``, ``cpu_s``, ``traffic`` and the ``steps``; ``counters`` and
        ``parameters``.
    """
    asked, given = request.to_json(), list(values)
    return _object(
        ask(lambda engine, told: str(engine.scenario(asked, name, given, told)), progress)
    )


def theory(
    over_provisioning: float,
    *,
    pages_per_block: int = 128,
    gc: str = "greedy",
    hot_space: float | None = None,
    hot_writes: float | None = None,
    trim_share: float | None = None,
    unwritten_share: float | None = None,
) -> dict[str, Any]:
    """Return the write amplification that theory gives for uniform or hot-and-cold random writes.

    Parameters
    ----------
    over_provisioning
        (physical - exported) / exported.
    pages_per_block
        Pages that are erased together.
    gc
        ``greedy``, ``fifo``, ``random`` or ``d-choices:N``.
    hot_space, hot_writes
        A share of the pages that gets a share of the writes.
    trim_share
        Share of requests that trim a random mapped page.
    unwritten_share
        Share of the exported pages that is never written.

    Returns
    -------
    dict
        ``write_amplification``, ``formula`` and ``effective_over_provisioning``.

    Raises
    ------
    SsdlabError
        No formula covers what was asked for.
    """
    pages = whole("pages per block", pages_per_block, 2**32 - 1)
    return _object(
        ask(
            lambda engine, _: str(
                engine.theory(
                    over_provisioning,
                    pages,
                    gc,
                    hot_space,
                    hot_writes,
                    trim_share,
                    unwritten_share,
                )
            )
        )
    )


def explain(settings: Settings = ()) -> dict[str, Any]:
    """Record a small drive, command by command.

    Parameters
    ----------
    settings
        What differs from the small drive.

    Returns
    -------
    dict
        ``drive``, its shape; ``steps``, each with the ``command``, what ``happened``, the state of
        every block and page, the ``map``, the ``counters`` and the ``write_amplification``.

    Raises
    ------
    SsdlabError
        A setting is wrong, or the drive cannot be drawn.
    """
    return _object(ask(lambda engine, _: str(engine.explain(list(settings)))))
