"""The compiled engine, typed: text in, text out, and its errors as ours.

The engine is loaded when it is first needed, so that result files can be compared and drawn on a
machine where it was never built.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from ssdlab.errors import SsdlabError, Stopped

Progress = Callable[[str, float], bool]
"""Called with a phase and the share of it that is done; returns False to stop."""

Settings = tuple[tuple[str, str], ...]
"""Pairs of dotted key and value, as `--set` takes them."""

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
    """

    drive: str
    settings: Settings = ()
    layers: tuple[str, ...] = ()
    job_text: str | None = None
    job_name: str = "command line"
    flags: tuple[str, ...] = ()
    condition: str | None = None
    span: float = 1.0
    seed: int = 1
    layout: bool = True
    timeline: tuple[int, int] | None = None
    json_plus: bool = False
    save: str | None = None


def _load() -> Any:
    try:
        return importlib.import_module("ssdlab._engine")
    except ImportError as error:
        raise SsdlabError(
            f"the compiled engine is missing ({error})\nbuild it with: make install"
        ) from None


@contextmanager
def _engine() -> Iterator[Any]:
    engine = _load()
    try:
        yield engine
    except engine.EngineError as error:
        raise SsdlabError(str(error)) from None
    except engine.Cancelled:
        raise Stopped from None


def _object(text: str) -> dict[str, Any]:
    decoded = json.loads(text)
    assert isinstance(decoded, dict), "the engine answers with one JSON object"
    return decoded


def version() -> str:
    """Version of the engine, which is the version of the package."""
    with _engine() as engine:
        return str(engine.version())


def profiles() -> list[dict[str, Any]]:
    """Return the profiles that come with the package, one object each."""
    with _engine() as engine:
        decoded = json.loads(engine.profiles())
    assert isinstance(decoded, list), "the engine answers with a JSON list"
    return decoded


def layers() -> list[dict[str, Any]]:
    """Return the kinds of layers that can lie over a drive, one object each."""
    with _engine() as engine:
        decoded = json.loads(engine.layers())
    assert isinstance(decoded, list), "the engine answers with a JSON list"
    return decoded


def show(drive: str, settings: Settings = (), layers: Sequence[str] = ()) -> dict[str, Any]:
    """Return every parameter of a drive and its layers with its source, and what follows."""
    with _engine() as engine:
        return _object(engine.show(drive, list(settings), list(layers)))


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
    with _engine() as engine:
        return str(
            engine.run(
                request.drive,
                list(request.settings),
                list(request.layers),
                request.job_text,
                request.job_name,
                list(request.flags),
                request.condition,
                request.span,
                request.seed,
                request.layout,
                request.timeline,
                request.json_plus,
                progress,
                request.save,
            )
        )


def render(result: str, output_format: str) -> str:
    """Write a result as fio's ``normal`` text, or as ``json`` without what only ``json+`` has."""
    with _engine() as engine:
        return str(engine.render(result, output_format))


def season(
    drive: str,
    condition: str | None,
    save: str,
    *,
    start_over: str | None = None,
    settings: Settings = (),
    span: float = 1.0,
    seed: int = 1,
    job_text: str | None = None,
    job_name: str = "command line",
    flags: Sequence[str] = (),
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Start a drive over, bring it into a condition, or both, and save it as a drive file.

    `start_over` is one of `START_OVER` and comes first. `span` is the share of the exported range
    that the host uses; the rest stays unwritten.
    """
    with _engine() as engine:
        return _object(
            engine.season(
                drive,
                list(settings),
                start_over,
                condition,
                span,
                seed,
                job_text,
                job_name,
                list(flags),
                save,
                progress,
            )
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
    with _engine() as engine:
        return _object(
            engine.scenario(drive, list(settings), list(layers), name, list(values), seed)
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
    with _engine() as engine:
        return _object(
            engine.theory(
                over_provisioning,
                pages_per_block,
                gc,
                hot_space,
                hot_writes,
                trim_share,
                unwritten_share,
            )
        )
