"""docs/result.schema.json describes the object `ssdlab` of real results, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

Command = Callable[..., tuple[int, str, str]]
SCHEMA = json.loads(
    (Path(__file__).parents[2] / "docs/result.schema.json").read_text(encoding="utf-8")
)
_SMALL = ("--set", "capacity_bytes=256MiB", "--set", "nand.pages_per_block=64")
_JOB = ("--rw=randrw", "--bs=4k", "--number_ios=300", "--nice=3")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--drive", "theory", *_SMALL, "--state", "steady", "--timeline", "0ms,1ms"),
        ("--drive", "theory", *_SMALL, "--layer", "raid:level=1,disks=2", "--layer", "crypt"),
        ("--drive", "intel-dc-s3500-80gb", "--drive", "wd-velociraptor-300gb"),
        ("--drive", "samsung-990-pro-1tb", "--size=64m", "--numjobs=2", "--group_reporting"),
    ],
    ids=["steady", "stack", "two drives", "group"],
)
def test_results_fit_the_schema(command: Command, arguments: tuple[str, ...]) -> None:
    """An SSD, a stack, a hard disk, an NVMe drive: no field lacks, none is undescribed."""
    for form in ("json", "json+"):
        code, out, err = command("run", *_JOB, *arguments, "--output-format", form)
        assert code == 0, err
        for job in json.loads(out)["jobs"]:
            jsonschema.validate(job["ssdlab"], SCHEMA)


def test_the_schema_refuses_what_it_does_not_describe(command: Command) -> None:
    """A field too many, one too few and another version do not fit."""
    _, out, _ = command("run", *_JOB, "--drive", "theory", *_SMALL, "--output-format", "json")
    lab = json.loads(out)["jobs"][0]["ssdlab"]
    without = {key: value for key, value in lab.items() if key != "seed"}
    for wrong in ({**lab, "more": 1}, without, {**lab, "schema_version": 0}):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(wrong, SCHEMA)


def test_the_schema_is_one_and_describes_every_field() -> None:
    """It is valid itself; every object is closed, and every field says what it is."""
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    for place, part in _objects(SCHEMA, "#"):
        assert part.get("additionalProperties") is False, place
        for name, field in part["properties"].items():
            assert str(field.get("description", "")).endswith("."), f"{place}/{name}"


def _objects(part: Any, place: str) -> Iterator[tuple[str, dict[str, Any]]]:
    if isinstance(part, dict):
        if "properties" in part and "type" in part:
            yield place, part
        for name, value in part.items():
            yield from _objects(value, f"{place}/{name}")
    elif isinstance(part, list):
        for value in part:
            yield from _objects(value, place)
