"""The job files that are included: a baseline of five jobs, and the loads of endurance standards.

Each also becomes one line for fio, so that the same can be measured on a real drive.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from contextlib import suppress
from importlib import resources

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import InputError, read_text


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


def read(path: str) -> str:
    """Read a job file.

    Raises
    ------
    FileNotFoundError
        There is none.
    SsdlabError
        It cannot be read, or it is JSON: ``[1, 2]`` would be a job of that name, with all defaults.
    """
    remedy = "give a fio job file, or options instead: --rw=randwrite --bs=4k"
    try:
        found = read_text(path)
    except InputError as error:
        raise SsdlabError(f"job file {path}: cannot be read: {error}\n{remedy}") from None
    with suppress(ValueError, RecursionError):
        json.loads(found)
        raise SsdlabError(f"job file {path}: holds JSON, and no job\n{remedy}")
    return found


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
