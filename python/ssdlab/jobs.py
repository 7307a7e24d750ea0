"""The job files that are included: the workloads that standards state endurance for."""

from __future__ import annotations

from importlib import resources


def names() -> list[str]:
    """Name the jobs that are included.

    Examples
    --------
    >>> names()
    ['jesd219-client', 'jesd219-enterprise']
    """
    files = (entry.name for entry in resources.files("ssdlab.data").iterdir())
    return sorted(name.removesuffix(".fio") for name in files if name.endswith(".fio"))


def text(name: str) -> str | None:
    """Return the text of a job, named with or without ``.fio``; None where there is none."""
    name = name.removesuffix(".fio")
    if name not in names():
        return None
    return resources.files("ssdlab.data").joinpath(f"{name}.fio").read_text("utf-8")
