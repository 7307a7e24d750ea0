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
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, TypeVar

from ssdlab.errors import SsdlabError, Stopped

Progress = Callable[[str, float], bool]
"""Called with a phase and the share of it that is done; returns False to stop."""

Settings = tuple[tuple[str, str], ...]
"""Pairs of dotted key and value, as `--set` takes them."""

T = TypeVar("T")
_GRACE_S = 0.5
"""After Ctrl-C the engine has so long to end before KeyboardInterrupt is raised without it."""

CONDITIONS = ("fresh", "filled", "used", "steady")
"""What a drive can be brought into."""

START_OVER = ("secure-erase", "crypto-erase", "trim")
"""How a drive starts over."""


@dataclass(frozen=True)
class RunRequest:
    """One run: a job on a drive.

    Attributes
    ----------
    drive
        A profile's name, a profile or a stack (TOML), or a drive file.
    settings
        Dotted keys and values that differ from the profile.
    layers
        What lies over the drive, bottom up, as `--layer` takes it.
    job_text
        The text of a fio job file; None where the flags alone make the job.
    job_name
        Where the text came from, for messages.
    flags
        fio options, each as ``--name=value`` or ``--name``.
    condition
        The drive is preconditioned to it before the job; None leaves the drive as it is.
    span
        Share of the exported range that preconditioning uses.
    scale_model
        Steady state may come about by a scale model, where that holds.
    seed
        The run's one source of chance.
    layout
        A read job on a fresh drive first writes what it will read.
    timeline
        Start and length, in nanoseconds, of the stretch whose single operations are recorded.
    json_plus
        Keep the latency histograms.
    save
        Where the drive is kept afterwards.
    cache
        Whether a preconditioned drive may be taken from the user's cache folder, or kept there.
    """

    drive: str
    settings: Settings = ()
    layers: tuple[str, ...] = ()
    job_text: str | None = None
    job_name: str = "command line"
    flags: tuple[str, ...] = ()
    condition: str | None = None
    span: float = 1.0
    scale_model: bool = False
    seed: int = 1
    layout: bool = True
    timeline: tuple[int, int] | None = None
    json_plus: bool = False
    save: str | None = None
    cache: bool = True


def _load() -> Any:
    try:
        return importlib.import_module("ssdlab._engine")
    except ImportError as error:
        raise SsdlabError(
            f"the compiled engine is missing ({error})\nbuild it with: make install"
        ) from None


def _ask(call: Callable[[Any, Progress], T], progress: Progress | None = None) -> T:
    """Ask the engine something; its errors become ours."""
    engine = _load()
    stop = threading.Event()

    def told(phase: str, share: float) -> bool:
        return not stop.is_set() and (progress is None or progress(phase, share))

    try:
        return _interruptible(lambda: call(engine, told), stop)
    except engine.EngineError as error:
        raise SsdlabError(str(error)) from None
    except engine.Cancelled:
        raise Stopped from None
    except UnicodeEncodeError as error:
        raise SsdlabError(f"{error.object!a}: not UTF-8; give another name") from None


def _interruptible(call: Callable[[], T], stop: threading.Event) -> T:
    """Do it in a thread beside the main one, which alone hears of signals, and so hears at once."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    outcome: Future[T] = Future()

    def work() -> None:
        try:
            outcome.set_result(call())
        except BaseException as error:
            outcome.set_exception(error)

    # A daemon: the interpreter does not wait for it either.
    thread = threading.Thread(target=work, name="ssdlab engine", daemon=True)
    try:
        thread.start()
        return outcome.result()
    except KeyboardInterrupt:
        # It mostly ends within milliseconds; if not, it ends by itself when it is next asked.
        stop.set()
        thread.join(_GRACE_S)
        raise


def _whole(name: str, value: int, bits: int) -> int:
    """Refuse a number that the engine's own would not hold."""
    if not 0 <= value < 1 << bits:
        raise SsdlabError(f"{name} {value}: must be a whole number from 0 to {(1 << bits) - 1}")
    return value


def _object(text: str) -> dict[str, Any]:
    decoded = json.loads(text)
    assert isinstance(decoded, dict), "the engine answers with one JSON object"
    return decoded


def version() -> str:
    """Version of the engine, which is the version of the package."""
    return _ask(lambda engine, _: str(engine.version()))


def profiles() -> list[dict[str, Any]]:
    """Return the profiles that come with the package, one object each."""
    decoded = json.loads(_ask(lambda engine, _: str(engine.profiles())))
    assert isinstance(decoded, list), "the engine answers with a JSON list"
    return decoded


def layers() -> list[dict[str, Any]]:
    """Return the kinds of layers that can lie over a drive, one object each."""
    decoded = json.loads(_ask(lambda engine, _: str(engine.layers())))
    assert isinstance(decoded, list), "the engine answers with a JSON list"
    return decoded


def show(drive: str, settings: Settings = (), layers: Sequence[str] = ()) -> dict[str, Any]:
    """Return every parameter of a drive and its layers with its source, and what follows."""
    return _object(_ask(lambda engine, _: str(engine.show(drive, list(settings), list(layers)))))


def memory_bytes(drive: str, settings: Settings = (), layers: Sequence[str] = ()) -> int:
    """Return what the simulation of a drive, or of a stack, takes of memory at most, in bytes."""
    return int(show(drive, settings, layers)["memory_bytes"])


def run(request: RunRequest, progress: Progress | None = None) -> str:
    """Run a job.

    Returns
    -------
    str
        fio's JSON with our object in each job, exactly as the engine wrote it.

    Raises
    ------
    SsdlabError
        What the user can mend.
    Stopped
        `progress` returned False.
    """
    seed = _whole("seed", request.seed, 64)
    timeline = request.timeline and tuple(_whole("timeline", each, 64) for each in request.timeline)
    return _ask(
        lambda engine, told: str(
            engine.run(
                request.drive,
                list(request.settings),
                list(request.layers),
                request.job_text,
                request.job_name,
                list(request.flags),
                request.condition,
                request.span,
                request.scale_model,
                seed,
                request.layout,
                timeline,
                request.json_plus,
                told,
                request.save,
            )
        ),
        progress,
    )


def check_job(job_text: str | None, job_name: str, flags: Sequence[str]) -> dict[str, list[str]]:
    """Read a job without running it.

    Returns
    -------
    dict
        ``jobs``, their names; ``notices``, a sentence each.

    Raises
    ------
    SsdlabError
        All that is wrong with it.
    """
    return _object(_ask(lambda engine, _: str(engine.check_job(job_text, job_name, list(flags)))))


def render(result: str, output_format: str) -> str:
    """Write a result as fio's ``normal`` or ``terse`` text, or as ``json`` without histograms."""
    return _ask(lambda engine, _: str(engine.render(result, output_format)))


def season(
    drive: str,
    condition: str | None,
    save: str,
    *,
    must_be_new: bool = False,
    start_over: str | None = None,
    settings: Settings = (),
    span: float = 1.0,
    scale_model: bool = False,
    seed: int = 1,
    job_text: str | None = None,
    job_name: str = "command line",
    flags: Sequence[str] = (),
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Start a drive over, bring it into a condition, or both, and save it as a drive file.

    `start_over` is one of `START_OVER` and comes first. `span` is the share of the exported range
    that the host uses; the rest stays unwritten. With `scale_model` steady state may come about by
    a scale model, where that holds; the answer's ``way`` says which way it came about. With
    `must_be_new` a file that has appeared at `save` by the end is left as it is, and refused.
    """
    seed = _whole("seed", seed, 64)
    return _object(
        _ask(
            lambda engine, told: str(
                engine.season(
                    drive,
                    list(settings),
                    start_over,
                    condition,
                    span,
                    scale_model,
                    seed,
                    job_text,
                    job_name,
                    list(flags),
                    save,
                    must_be_new,
                    told,
                )
            ),
            progress,
        )
    )


def precondition(request: RunRequest, save: str, progress: Progress | None = None) -> None:
    """Bring the drive of a run into the run's condition and save it as a drive file.

    The run's own writes make it steady; layers play no part.
    """
    steady = request.condition == "steady"
    season(
        request.drive,
        request.condition,
        save,
        settings=request.settings,
        span=request.span,
        scale_model=request.scale_model,
        seed=request.seed,
        job_text=request.job_text if steady else None,
        job_name=request.job_name,
        flags=request.flags if steady else (),
        progress=progress,
    )


def scenario(
    drive: str,
    name: str,
    *,
    settings: Settings = (),
    layers: Sequence[str] = (),
    values: Settings = (),
    seed: int = 1,
) -> dict[str, Any]:
    """Run a scenario (what a person does with files) on a drive fresh out of the box or a stack.

    `values` change the scenario by dotted key, such as ``state=fragmented``. The result's
    ``scenario`` has ``elapsed_s``, ``cpu_s``, ``traffic`` and the ``steps``.
    """
    seed = _whole("seed", seed, 64)
    return _object(
        _ask(
            lambda engine, _: str(
                engine.scenario(drive, list(settings), list(layers), name, list(values), seed)
            )
        )
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
    pages = _whole("pages per block", pages_per_block, 32)
    return _object(
        _ask(
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
    return _object(_ask(lambda engine, _: str(engine.explain(list(settings)))))
