"""The job files that are included: a baseline of five jobs, and the loads of endurance standards.

Each also becomes one line for fio, so that the same can be measured on a real drive.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib import resources


def names() -> list[str]:
    """Name the jobs that are included.

    Examples
    --------
    >>> names()
    ['baseline', 'jesd219-client', 'jesd219-enterprise']
    """
    files = (entry.name for entry in resources.files("ssdlab.data").iterdir())
    return sorted(name.removesuffix(".fio") for name in files if name.endswith(".fio"))


def text(name: str) -> str | None:
    """Return the text of a job, named with or without ``.fio``; None where there is none."""
    name = name.removesuffix(".fio")
    if name not in names():
        return None
    return resources.files("ssdlab.data").joinpath(f"{name}.fio").read_text("utf-8")


def fio_line(name: str, target: str, flags: Sequence[str] = ()) -> str | None:
    """Return the line that runs an included job with fio itself; None where there is none.

    Parameters
    ----------
    name
        The job's name, with or without ``.fio``.
    target
        What takes the simulated drive's place, such as ``/dev/sdX``; all of it may be overwritten.
    flags
        fio's options that change every job of the file, each as ``--name=value``.

    Examples
    --------
    >>> fio_line("baseline", "/dev/sdX").split(" --name=")[1]
    'readtp --rw=read --size=5g --bs=1024k'
    """
    job = text(name)
    if job is None:
        return None
    stripped = (line.strip() for line in job.splitlines())
    lines = [line for line in stripped if line and not line.startswith("#")]
    # What stands before the first --name holds for all jobs, as [global] does.
    sections = [[f"--filename={target}"]]
    for line in lines:
        if line.startswith("[") and line != "[global]":
            sections.append([f"--name={line.strip('[]')}"])
        elif not line.startswith(("[", "filename=")):
            sections[-1].append(f"--{line}")
    shared, *named = sections
    words = [word for each in named for word in (*each, *flags)]
    return shlex.join(["fio", *shared, *words])
