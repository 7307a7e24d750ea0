"""A drive as an object: the one noun of the package.

A drive is a profile, a profile of your own, or a drive file in a condition; `Drive.season` makes
the third out of the others. With layers over it (partition, encryption, RAID, …) it is a stack.
"""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssdlab import engine
from ssdlab.engine import Progress, conditions, policy
from ssdlab.engine.policy_setting import own
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.engine.result import Result
from ssdlab.experiment import jobs
from ssdlab.experiment.cache import run_conditioned
from ssdlab.experiment.experiment import Value
from ssdlab.ground.errors import SsdlabError


def _text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def settings_of(*sources: Mapping[str, Value]) -> Settings:
    """Return keys and values as `--set` takes them."""
    return tuple((key, _text(value)) for source in sources for key, value in source.items())


def _flags(options: Mapping[str, Value]) -> tuple[str, ...]:
    """Write fio options as flags; ``True`` is a bare flag."""
    return tuple(
        f"--{name}" if value is True else f"--{name}={int(value) if value is False else value}"
        for name, value in options.items()
    )


class Drive:
    """A drive in a stated condition.

    A drive that `season` kept in a temporary file takes the file with it: when nothing refers to
    the drive any more, when the interpreter ends, or at the end of a ``with`` block.

    Parameters
    ----------
    name
        A profile's name, a profile or a stack (TOML), or a drive file.
    settings
        Keys and values that differ from the profile.
    layers
        What lies over the drive, bottom up.
    """

    def __init__(self, name: str, settings: Settings = (), layers: Sequence[str] = ()) -> None:
        self.name = name
        self.settings = settings
        self.layers = tuple(layers)
        self._remove_file: weakref.finalize[Any, Any] | None = None

    def close(self) -> None:
        """Remove the temporary file that `season` kept the drive in; any other drive stays."""
        if self._remove_file is not None:
            self._remove_file()

    def __enter__(self) -> Drive:
        """Return the drive."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Close the drive."""
        self.close()

    def show(self) -> dict[str, Any]:
        """Return every parameter with its source, and what follows from them."""
        return engine.show(self.name, self.settings, self.layers)

    def run(
        self,
        job: str | Path | None = None,
        *,
        state: str | None = None,
        span: float = 1.0,
        exact: bool = False,
        seed: int = 1,
        layout: bool = True,
        timeline: tuple[int, int] | None = None,
        save: str | Path | None = None,
        cache: bool = True,
        gc: policy.Policy | None = None,
        progress: Progress | None = None,
        **options: Value,
    ) -> Result:
        """Run a fio job.

        Parameters
        ----------
        job
            A job file's path, its text (anything with a line break), or the name of one that comes
            along (`ssdlab.experiment.jobs`); None where `options` say it all.
        state
            Condition to bring the drive into first (`ssdlab.engine.conditions`): ``steady`` is the
            same for all jobs, ``steady:job`` this job's own; None leaves the drive as it is.
        span
            Share of the drive that is used while it is brought there; the rest stays unwritten.
        exact
            Whether the whole drive is preconditioned, even where a scale model
            can be used (docs/explanation/model.md, section 5).
        seed
            The run's one source of chance.
        layout
            A read job on a fresh drive first writes what it will read.
        timeline
            Start and length in nanoseconds of a stretch whose single operations are recorded.
        save
            A drive file to keep the drive in afterwards.
        cache
            Whether a preconditioned drive may be taken from the user's cache folder, or kept there.
        gc
            The victim policy of this run in place of the drive's: a name, a library's path, or a
            function of your own (docs/howto/policy.md), of Numba, ctypes or plain Python.
        progress
            Called with phase and share; returns False to stop.
        **options
            fio's options: ``rw="randwrite", bs="4k", iodepth=16``.

        Raises
        ------
        SsdlabError
            What the caller can mend.
        Stopped
            `progress` returned False.
        """
        text, name = job_text(job)
        flags = _flags(options)
        if text is None and not flags:
            raise SsdlabError('no job: give a job file, or options such as rw="randwrite", bs="4k"')
        request = RunRequest(
            drive=self.name,
            settings=self.settings,
            layers=self.layers,
            job_text=text,
            job_name=name,
            flags=flags,
            condition=state,
            span=span,
            exact=exact,
            seed=seed,
            layout=layout,
            timeline=timeline,
            json_plus=True,
            save=None if save is None else str(save),
            cache=cache,
        )
        with policy.setting(gc) as chosen:
            asked = replace(request, settings=(*self.settings, *chosen))
            return Result.from_json(run_conditioned(asked, progress), f"{name} on {self.name}")

    def season(
        self,
        to: str,
        *,
        save: str | Path | None = None,
        job: str | Path | None = None,
        span: float = 1.0,
        exact: bool = False,
        seed: int = 1,
        progress: Progress | None = None,
        **options: Value,
    ) -> Drive:
        """Bring the drive into a condition and return it; this one stays as it is.

        A drive with layers cannot be kept: season the drive and put the layers over it, or give
        `run` a state.

        Parameters
        ----------
        to
            ``fresh``, ``filled``, ``used``, ``steady`` (under uniform random writes over the
            drive) or ``steady:job``.
        save
            Where to keep it; by default a temporary file that is removed with the drive returned.
        job, **options
            Whose writes make it ``steady:job``, as for `run`; ``steady`` is the same for all jobs
            and takes no more from them than ``buffer_compress_percentage``.
        span
            Share of the drive that is used; the rest stays unwritten.
        exact
            Whether the whole drive is preconditioned, even where a scale model
            can be used (docs/explanation/model.md, section 5).
        seed
            The one source of chance.
        progress
            Called with phase and share; returns False to stop.
        """
        self._check_alone()
        text, name = job_text(job)
        conditions.check_job_counts(to, text, _flags(options))
        seasoned = (
            Drive(str(save), own(self.settings))
            if save is not None
            else _temporary_drive(to, own(self.settings))
        )
        request = RunRequest(
            drive=self.name,
            settings=self.settings,
            condition=to,
            span=span,
            exact=exact,
            seed=seed,
            job_text=text,
            job_name=name,
            flags=_flags(options),
            save=seasoned.name,
        )
        engine.season(request, progress)
        return seasoned

    def start_over(self, how: str, *, save: str | Path | None = None) -> Drive:
        """Start the drive over and return it; this one stays as it is. Wear stays in any case.

        Parameters
        ----------
        how
            ``secure-erase``: every block erased, nothing mapped, fresh but for the wear.
            ``crypto-erase``: the key is gone; nothing can be read, and blocks stay full.
            ``trim``: nothing mapped; blocks are erased as they are collected.
            ``overwrite``: every block programmed with a pattern and erased, fresh but for the wear.
        save
            Where to keep it; by default a temporary file that is removed with the drive returned.

        Raises
        ------
        SsdlabError
            The drive cannot, or has layers, which a drive file does not keep.
        """
        self._check_alone()
        started = (
            Drive(str(save), own(self.settings))
            if save is not None
            else _temporary_drive(how, own(self.settings))
        )
        request = RunRequest(self.name, self.settings, start_over=how, save=started.name)
        engine.season(request)
        return started

    def _check_alone(self) -> None:
        if self.layers:
            raise SsdlabError(
                f"{self!r}: a drive file keeps one drive, without layers\n"
                "season the drive alone and put the layers over it, or run(..., state=...)"
            )

    def __repr__(self) -> str:
        """Name the drive and what was changed in it."""
        changes = "".join(f", {key}={value}" for key, value in self.settings)
        layers = "".join(f" + {layer}" for layer in self.layers)
        return f"<Drive {self.name}{changes}{layers}>"


def _temporary_drive(condition: str, settings: Settings) -> Drive:
    folder = tempfile.mkdtemp(prefix="ssdlab-")
    drive = Drive(f"{folder}/{condition}.ssd", settings)
    drive._remove_file = weakref.finalize(drive, shutil.rmtree, folder, ignore_errors=True)
    return drive


def job_text(job: str | Path | None) -> tuple[str | None, str]:
    """Return a job's text, None where options say it all, and what messages call it.

    Parameters
    ----------
    job
        A file, the name of a job that is included, or the text itself.

    Raises
    ------
    SsdlabError
        There is no such job, or it cannot be read.
    """
    if job is None:
        return None, "options"
    if isinstance(job, str) and "\n" in job:
        return job, "job text"
    try:
        return jobs.read(str(job)), str(job)
    except FileNotFoundError:
        if (shipped := jobs.text(str(job))) is not None:
            return shipped, str(job)
        raise SsdlabError(
            f"no such job file: {job}; included jobs: {', '.join(jobs.names())}"
        ) from None


def drive(
    name: str,
    settings: Mapping[str, Value] | None = None,
    layers: Sequence[str] = (),
    **parameters: Value,
) -> Drive:
    """Name a drive.

    Parameters
    ----------
    name
        A profile's name (`profiles` lists them), a profile or a stack (TOML), or a drive file.
    settings
        Dotted keys: ``{"nand.pages_per_block": 256, "ftl.gc": "fifo"}``.
    layers
        What lies over it, bottom up: ``["partition:start_sector=63", "crypt:cores=2"]``.
    **parameters
        Keys without a dot: ``over_provisioning=0.28``.

    Examples
    --------
    >>> drive("intel-dc-s3500-480gb", {"ftl.gc": "fifo"}, over_provisioning=0.28)
    <Drive intel-dc-s3500-480gb, ftl.gc=fifo, over_provisioning=0.28>
    >>> drive("theory", layers=["partition:start_sector=63"])
    <Drive theory + partition:start_sector=63>

    Raises
    ------
    SsdlabError
        There is no such drive, or a key, a value or a layer is wrong.
    """
    named = Drive(name, settings_of(settings or {}, parameters), layers)
    # What a drive file holds is read by its first run: it may be large.
    if not (named.name.endswith(".ssd") and Path(named.name).exists()):
        named.show()
    return named
