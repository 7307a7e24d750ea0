"""What a report is made from: folders of `ssdlab pts`, and result files of TKperf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ssdlab.bench.report.reading import Measured, blaming, read_folder
from ssdlab.bench.tkperf.measured import read_tkperf


def read_results(paths: Sequence[Path]) -> list[Measured]:
    """Read results; a folder that has a folder for each target stands for these.

    Raises
    ------
    SsdlabError
        There is no result in one, or it is damaged.
    """
    found = [each for path in paths for each in _read(path)]
    labels = _labels(found)
    return [replace(each, label=label) for each, label in zip(found, labels, strict=True)]


def _read(path: Path) -> list[Measured]:
    return read_folder(path) if path.is_dir() else [read_tkperf(path)]


def _words(measured: Measured) -> list[str]:
    """Return the target's name, and what is set on it."""
    with blaming(measured.path):
        asked = measured.asked
        return [str(measured.target["name"]), *asked["settings"], *asked["layers"]]


def _labels(several: Sequence[Measured]) -> list[str]:
    """Name targets with what is set on them, but for what is set on all; then by place."""
    words = [_words(each) for each in several]
    common = set.intersection(*map(set, words)) if len(several) > 1 else set()
    names = [", ".join([each[0], *(w for w in each[1:] if w not in common)]) for each in words]
    return [
        name if names.count(name) == 1 else f"{name} ({each.path})"
        for each, name in zip(several, names, strict=True)
    ]
