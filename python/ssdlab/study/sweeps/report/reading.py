"""What a sweep's folder tells a report: the rows that are there, and what was varied.

A sweep that is still under way is read as far as it is. Rows of other studies in the same folder
are left out where a factor of this one is missing in them, or has a value that it does not have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ssdlab.engine.request import RunRequest
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sweeps.plan import columns_of
from ssdlab.study.sweeps.point import applied
from ssdlab.study.sweeps.row import COLUMNS
from ssdlab.study.sweeps.store import rows_in
from ssdlab.study.sweeps.strict import load
from ssdlab.study.sweeps.study import Study

FIGURES: dict[str, str] = {
    "iops": "most",
    "write_amplification": "least",
    "read_p99_us": "least",
    "write_p99_us": "least",
    "read_mean_us": "least",
    "write_mean_us": "least",
    "read_p99_9_us": "least",
    "write_p99_9_us": "least",
    "mb_per_s": "most",
    "erases_a_block_mean": "least",
    "wear_share": "least",
}
"""Figures that are drawn, each with what is better."""


@dataclass(frozen=True)
class Sweep:
    """Rows and what they mean.

    Attributes
    ----------
    study
        What was asked for.
    rows
        Those that have figures.
    failed
        How many have an error instead.
    factors
        Columns that vary among the rows.
    figures
        Columns of `FIGURES` that vary among the rows.
    """

    study: Study
    rows: Sequence[Mapping[str, Any]]
    failed: int
    factors: tuple[str, ...]
    figures: tuple[str, ...]

    @property
    def charted(self) -> tuple[str, ...]:
        """Factors, but for keys that only follow from others in a level that sets several."""
        following = {
            key
            for factor in self.study.factors
            if len(factor.keys) > 1
            for key in factor.keys
            if len({level[key] for level in factor.levels}) == len(factor.levels)
        }
        return tuple(key for key in self.factors if key not in following) or self.factors

    def request(self, row: Mapping[str, Any]) -> RunRequest:
        """Return what was run for a row."""
        bases = [base for base in self.study.bases if base.drive == row["drive"]]
        of_job = [base for base in bases if base.job_name == row.get("job_file")]
        factors = {key: _typed(key, row[key]) for key in self.study.keys}
        return replace(applied((of_job or bases)[0], factors), seed=row["seed"])


def read(folder: str | Path) -> Sweep:
    """Read a sweep.

    Raises
    ------
    SsdlabError
        Nothing has ended there yet, or a file cannot be read.
    """
    study = load(Path(folder) / "study.toml")
    own = list(columns_of(study))
    found = [row for row in rows_in(Path(folder), [*own, *COLUMNS]) if _is_of(study, row)]
    rows = [row for row in found if row["error"] is None]
    if not rows:
        raise SsdlabError(
            f"{folder}: no point with figures has ended yet\nwait for some, or see the errors in "
            f"{folder}/table.csv"
        )
    factors = tuple(key for key in own if len({row[key] for row in rows}) > 1)
    figures = tuple(key for key in FIGURES if _varies(key, rows))
    return Sweep(study, rows, len(found) - len(rows), factors, figures)


def _is_of(study: Study, row: Mapping[str, Any]) -> bool:
    if row["drive"] not in {base.drive for base in study.bases}:
        return False
    return all(row[key] is not None for key in study.keys)


def _typed(key: str, value: Any) -> Any:
    """Return a value as the study has it: layers are kept as one text."""
    return value.split() if key == "layers" else value


def _varies(key: str, rows: Sequence[Mapping[str, Any]]) -> bool:
    return len({row[key] for row in rows if row[key] is not None}) > 1
