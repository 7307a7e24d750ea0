"""Wrong and foreign files for every verb that reads files of people: each is told what it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from foreign import EXAMPLES, UNKNOWN
from process import SMALL
from ssdlab.cli.given_files import what_was_given
from ssdlab.ground.recognise import what_it_is

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
S3500 = "intel-dc-s3500-80gb"
JOB = ("--rw=read", "--number_ios=1")
_DRIVE = {"a drive file of ssdlab", "a profile of a drive", "a layout"}
_TRACE = {name for name in EXAMPLES if "trace" in name and "binary" not in name}
_TRACE |= {"an iolog of fio", "blkparse's text", "a gzip archive", "a zstd archive"}
_MQSIM = {"MQSim's configuration", "MQSim's workload definition"}
READERS: dict[str, tuple[tuple[str, ...], set[str]]] = {
    "run JOB": (("run", "f.dat", "--drive", *SMALL), {"a job file of fio"}),
    "run --drive": (("run", *JOB, "--drive", "f.dat"), _DRIVE),
    "run --stack": (("run", *JOB, "--stack", "f.dat"), _DRIVE),
    "run --trace": (("run", "--trace", "f.dat", "--drive", *SMALL), _TRACE),
    "run --read_iolog": (("run", "--rw=read", "--read_iolog=f.dat", "--drive", *SMALL), _TRACE),
    "trace": (("trace", "f.dat"), _TRACE),
    "sweep": (("sweep", "f.dat", "-o", "new"), {"a study"}),
    "import": (("import", "f.dat", "-o", "new"), _MQSIM),
    "show": (("show", "f.dat"), _DRIVE),
    "season": (("season", "f.dat", "--to", "fresh", "-o", "new"), _DRIVE),
    "sizing JOB": (("sizing", "f.dat", "--drive", S3500, "--iops", "1"), {"a job file of fio"}),
    "sizing --prices": (
        ("sizing", "--iops", "1", "--drive", S3500, "--prices", "f.dat"),
        {"a table (CSV)"},
    ),
    "lifetime": (("lifetime", "f.dat", "--writes", "1GB/day"), _DRIVE),
    "pts": (("pts", "f.dat", "-o", "new"), _DRIVE),
    "demo": (("demo", "--drive", "f.dat", "-o", "new"), _DRIVE),
    "twin": (("twin", "f.dat", "--drive", "theory", "-o", "x.toml"), {"a table (CSV)"}),
    "season --job": (
        ("season", "theory", "--to", "steady:job", "--job", "f.dat", "-o", "new"),
        {"a job file of fio"},
    ),
    "serve": (("serve", "f.dat", "-o", "new"), _DRIVE),
    "serve a folder": (("serve", "f.dat"), _DRIVE),
    "serve --job": (
        ("serve", *SMALL, "--state", "steady:job", "--job", "f.dat", "-o", "new"),
        {"a job file of fio"},
    ),
    "smart": (("smart", "f.dat"), _DRIVE),
    "check": (("check", "f.dat"), set()),
    "ctl": (("ctl", "f.dat", "stats"), set()),
    "attach": (("attach", "f.dat"), set()),
    "detach": (("detach", "f.dat"), set()),
    "audit --from": (
        ("audit", "--from", "f.dat"),
        {"a listing of partitions", "text in UTF-16, as PowerShell's > writes"},
    ),
    "fit --drive": (("fit", "--plan", "--drive", "f.dat"), _DRIVE),
}
"""What reads f.dat, and the kinds that it takes, of which other tests tell what is wrong in them.

`health`, `audit --root`, `align`, `compare`, `report` and the measurements of `fit` have tests of
their own.
"""


def test_there_are_three_hundred() -> None:
    """Files times readers, beside those of the tests of results, reports, captures and listings."""
    count = sum(len(contents) for contents in EXAMPLES.values()) + len(UNKNOWN)
    assert count * len(READERS) > 1000


@pytest.mark.parametrize("reader", READERS)
def test_each_kind_is_told(command: Command, tmp_path: Path, reader: str) -> None:
    """Exit code 2; file, kind and remedy are named; nothing is printed or left."""
    words, own = READERS[reader]
    for name, contents in {**EXAMPLES, "unknown": UNKNOWN}.items():
        for content in contents if name not in own else ():
            (tmp_path / "f.dat").write_bytes(content)
            code, out, error = command(*words)
            assert (code, out) == (2, ""), (name, error)
            quotes_one = name == "an error message of Python"
            assert "f.dat" in error and ("Traceback" not in error or quotes_one), (name, error)
            kind = what_it_is(content)
            assert kind is None or kind.told("f.dat") in error, (name, error)
            # The remedy is in a line of its own, or behind what is wrong.
            assert "\n" in error.strip() or "; " in error, (name, error)
    assert [each.name for each in tmp_path.iterdir()] == ["f.dat"]


def test_what_a_reader_takes_is_left_to_its_own_words(tmp_path: Path) -> None:
    """A job file with a slip is not told that it is a job file."""
    (tmp_path / "a.fio").write_bytes(EXAMPLES["a job file of fio"][0])
    path = str(tmp_path / "a.fio")
    assert what_was_given(f"{path}, line 2: no", ["run", path, "--drive", "theory"]) == ""
    told = what_was_given(f"{path}: no", ["run", "--rw=read", "--drive", path])
    assert told.startswith("\nit is a job file of fio\n")
