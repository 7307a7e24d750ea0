"""What verbs print on a terminal of 80 columns: every line fits, and nothing is left out."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

import synthetic
from layouts import LAYOUTS
from process import on_terminal, ssdlab_run
from ssdlab.ground.text import NOTHING
from ssdlab.machine.audit.capture import capture

_COLUMNS = 80
_LISTING = "listings/01-fdisk-centos7-mbr-and-gpt.txt"
_SIZING = ("sizing", "--drive", "intel-dc-s3500-80gb", "--writes", "90TB/day", "--years", "9")
_ENSEMBLE = ("run", "--rw=randwrite", "--bs=4k", "--number_ios=100", "--ensemble", "10")
_VERBS = {
    "align check": ("align", "check", str(Path(__file__).parent / _LISTING)),
    "audit": ("audit", "--root", "machine.json"),
    "compare": ("compare", "a.json", "b.json"),
    "drives": ("drives",),
    "ensemble": (*_ENSEMBLE, "--drive", "intel-dc-s3500-80gb"),
    "layers": ("layers",),
    "layers raid": ("layers", "raid"),
    "lifetime": ("lifetime", "theory", "--writes", "1TB/day", "--sequential", "--spare", "20%"),
    "pts": ("pts", "intel-dc-s3500-80gb", "--dry-run"),
    "show": ("show", "intel-dc-s3500-80gb"),
    "sizing": _SIZING,
    "theory": ("theory", "--op", "7%"),
}
_OTHERWISE = {
    "audit": {"where", "finding"},
    "ensemble": {"drive", "hangs"},
    "show": set[str](),
}
"""Verbs that tell once on a terminal what rows of a pipe repeat, and their headings elsewhere."""
_MEASURED_HERE = re.compile(r"\d+|s|min|h")
"""What differs from one dry run of pts to the next: how fast this machine is."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with two results and a machine that is broken."""
    for name, iops in (("a", 1000.0), ("b", 1500.0)):
        (tmp_path / f"{name}.json").write_text(synthetic.text(synthetic.job(iops=iops)))
    (layout,) = (each for each in LAYOUTS if each.name == "LUKS 1 payload off the 1 MiB grid")
    (tmp_path / "machine.json").write_text(capture(layout.build().system()))
    return tmp_path


def _words(shown: str) -> Counter[str]:
    """Count words: neither rules under headings nor the marks of lists are any."""
    words = (word.rstrip(":") for word in re.split(r"[\s─]+", shown))
    return Counter(word for word in words if word not in ("", "-", "#", NOTHING))


@pytest.mark.end_to_end
@pytest.mark.parametrize("verb", _VERBS)
def test_every_line_fits_and_no_cell_is_lost(verb: str, folder: Path) -> None:
    """A terminal of 80 columns shows every word that a pipe gets, in lines that fit."""
    code, shown = on_terminal(*_VERBS[verb], columns=_COLUMNS, cwd=folder)
    piped, wide, _ = ssdlab_run(*_VERBS[verb], cwd=folder)
    assert code == piped in (0, 1, 3)
    assert [line for line in shown.splitlines() if len(line) > _COLUMNS] == []
    lost = _words(wide) - _words(shown)
    if verb in _OTHERWISE:
        lost = Counter(set(lost) - set(_words(shown)) - _OTHERWISE[verb])
    left_out = [word for word in lost if verb != "pts" or not _MEASURED_HERE.fullmatch(word)]
    assert left_out == []


@pytest.mark.end_to_end
def test_a_preconditioned_drive_is_told_in_lines_that_fit(folder: Path) -> None:
    """It is told where the drive lies, under which writes it is steady, and by which way."""
    season = ("season", "intel-dc-s3500-80gb", "--to", "steady")
    code, shown = on_terminal(*season, columns=_COLUMNS, cwd=folder)
    assert code == 0
    assert [line for line in shown.splitlines() if len(line) > _COLUMNS] == []
    told = " ".join(shown.split())
    assert "steady state reached after" in told and "; write amplification" in told
