"""What stands in a folder of `ssdlab pts`, so that what does not is told instead of left out.

A shape is the names that an object may have, each with the shape of what stands there: None where
it is a value, or has names of its own (a machine's surroundings, raw records, percentiles), or
becomes a dataclass that refuses other names (rules of the plan).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ssdlab.bench.store import SCHEMA_VERSION
from ssdlab.ground.unread import Unread

Shape = Mapping[str, Any]


def _values(names: str) -> dict[str, None]:
    return dict.fromkeys(names.split())


_PURGE = _values("asked answered checked proved")
_CACHE = _values("found during")
_FIGURES = _values("requests total_bytes iops mb_per_s mean_ns min_ns max_ns percentiles_ns")
_LOAD = _values("pattern read_percent block_bytes threads depth sizes zones")
_STEP: Shape = {
    **_values("name seed seconds passes offset_bytes"),
    "load": _LOAD,
    "precision": _values("deviation_percent seconds"),
    "pauses": _values("work_s idle_s"),
}
_MEASURED: Shape = {
    **_values("seconds rest_bytes raw"),
    **dict.fromkeys(("read", "write", "both"), _FIGURES),
}
_COUNTERS = _values("host_bytes_written nand_bytes_written source")
_CELL: Shape = {**_MEASURED, "name": None, "step": _STEP, "counters": _COUNTERS}
_PLANNED_CELL: Shape = {
    **_values("name seconds passes"),
    "load": _LOAD,
    "precision": _STEP["precision"],
}
_DEVIATION = _values("number clause instead")
_PART: Shape = {
    **_values("name tracking stop checkpoint without_cache"),
    "conditioning": _values("load passes"),
    "cells": _PLANNED_CELL,
    "afterwards": {"cell": _PLANNED_CELL, "pauses": _STEP["pauses"]},
}
_ASKED = _values(
    "target settings layers tests threads depth quick cell_seconds most_rounds purge seed version "
    "command"
)
PLAN: Shape = {
    "schema_version": None,
    "asked": _ASKED,
    "target": _values(
        "kind name model serial firmware capacity_bytes sector_bytes rated_bytes surroundings"
    ),
    "plan": {
        **_values("standard threads depth seed quick"),
        "tests": {"name": None, "title": None, "parts": _PART},
        "deviations": _DEVIATION,
    },
}
RUNS: Shape = {"runs": _values("began rounds_before system")}
RESULT: Shape = {
    **_values("schema_version standard"),
    "deviations": _DEVIATION,
    # What stands in a part is compared with what follows from the rounds.
    "tests": _values("name title parts"),
}
BEGINNING: Shape = {
    **dict.fromkeys(("counters_before", "counters_after"), _COUNTERS),
    "purge": _PURGE,
    "write_cache": _CACHE,
    "conditioning": {**_MEASURED, "step": _STEP},
}
ROUND: Shape = {**_values("round elapsed_s written_bytes"), "cells": _CELL}
AFTERWARDS: Shape = _CELL

_OF_FOLDERS = re.compile(r"(plan|runs|result)\.json")
_OF_PARTS = re.compile(r"beginning\.json|(round|afterwards)-\d{4,}\.json|state-\d{4,}\.ssd")
_WHY = "ssdlab pts writes no such name; another version did, or somebody added it"


def strange_names(content: Any, shape: Shape | None, file: Path, at: str = "") -> Iterator[Unread]:
    """Give what stands in a file under names that are not known there."""
    if shape is None:
        return
    if isinstance(content, list):
        for number, each in enumerate(content):
            yield from strange_names(each, shape, file, f"{at}[{number}]")
    elif isinstance(content, Mapping):
        for name, value in content.items():
            place = f"{at}.{name}" if at else str(name)
            if name not in shape:
                yield Unread(f"{file}: {place}", f"{name}: {value}", _WHY)
            else:
                yield from strange_names(value, shape[name], file, place)


def strange_version(content: Mapping[str, Any], file: Path) -> Iterator[Unread]:
    """Tell a file of another version of the form."""
    version = content.get("schema_version")
    if version != SCHEMA_VERSION or isinstance(version, bool):
        why = f"this ssdlab reads version {SCHEMA_VERSION}"
        yield Unread(f"{file}: schema_version", f"schema_version: {version}", why)


def strange_files(folder: Path, parts: Mapping[str, tuple[int, int]]) -> Iterator[Unread]:
    """Tell files that nobody knows, and rounds behind a gap.

    Parameters
    ----------
    folder
        Of a result.
    parts
        How many rounds, and steps afterwards, were read of each part.
    """
    for file in sorted(folder.glob("*.json")):
        if not _OF_FOLDERS.fullmatch(file.name):
            yield Unread(str(file), file.name, "ssdlab pts writes no such file")
    for name, counts in parts.items():
        read = dict(zip(("round", "afterwards"), counts, strict=True))
        for file in sorted((folder / name).glob("*.json")):
            kind, _, number = file.stem.partition("-")
            if not _OF_PARTS.fullmatch(file.name):
                yield Unread(str(file), file.name, "ssdlab pts writes no such file")
            elif kind in read and int(number) > read[kind]:
                missing = f"{kind}-{read[kind] + 1:04}.json"
                why = f"{missing} is not there, so that the series ends before it"
                yield Unread(str(file), file.name, why)
