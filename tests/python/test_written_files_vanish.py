"""Nothing vanishes: studies, profiles, stacks, job files and traces with a foreign line in them."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from insertions import is_told, rows_inserted, units_changed
from ssdlab import engine
from ssdlab.ground.errors import SsdlabError
from ssdlab.real.smart.meanings import read_overrides
from ssdlab.study.sweeps.plan import plan
from ssdlab.study.sweeps.strict import load
from test_trace import SAME

ROOT = Path(__file__).parents[2]
STACK = (
    "drive = 'theory'\n[[layer]]\nkind = 'crypt'\ncores = 2\n"
    "[[layer]]\nkind = 'partition'\nstart_sector = 63\n"
)
JOB = "[global]\nrw=randread\nbs=4k\n[a]\nsize=1m\n"


def show(path: str) -> object:
    return engine.show(path, (), ())


def check(path: str) -> object:
    return engine.check_job(Path(path).read_text(encoding="utf-8"), path, ())


MEANINGS = (
    '[[drive]]\nfamily = "ours"\nmodels = ["NEW.*"]\n\n[[drive.attribute]]\nid = 202\n'
    'means = "life left"\n\n[[drive.attribute]]\nid = 246\nmeans = "host written"\n'
    'read = "raw"\nbits = [0, 32]\nunit_bytes = 512\n'
)


READERS: dict[str, tuple[str, str, Callable[[str], object]]] = {
    "study": (
        "study.toml",
        (ROOT / "examples" / "sweep-theory.toml").read_text(encoding="utf-8"),
        lambda path: plan(load(path)),
    ),
    "profile": (
        "drive.toml",
        (ROOT / "profiles" / "intel-dc-s3500-80gb.toml").read_text(encoding="utf-8"),
        show,
    ),
    "stack": ("stack.toml", STACK, show),
    "meanings": ("own.toml", MEANINGS, read_overrides),
    "job file": ("job.fio", JOB, check),
}
"""What people write: the name of a file, its text, and what reads it."""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def told(read: Callable[[], object], *words: str) -> str:
    """Say what is wrong with the answer; one line with the place and the value will do."""
    found = is_told(read, *words)
    return "" if found.startswith("no remedy: ") and all(w in found for w in words) else found


@pytest.mark.parametrize("name", READERS)
def test_lines_that_people_write(name: str) -> None:
    """A key, a section and a word that nobody knows are refused wherever they stand."""
    file, text, read = READERS[name]
    Path(file).write_text(text, encoding="utf-8")
    read(file)
    draw = random.Random(36)
    rows: tuple[str, ...] = (
        "frobnication = 7",
        "[frobnication]",
        "frobnication",
        '"frobnication.x" = [1, 2]',
    )
    rows = rows[:1] + rows[2:3] if name == "job file" else rows  # There a section is a job.
    every = list(rows_inserted(text, rows))
    for content, row in draw.sample(every, min(len(every), 120)):
        Path(file).write_text(content, encoding="utf-8")
        assert told(partial(read, file), Path(file).stem) == "", (row, content)


def test_units_that_people_write() -> None:
    """A number of a profile with a unit that does not belong to it is refused with its line."""
    file, text, read = READERS["profile"]
    draw = random.Random(36)
    lines = text.splitlines()
    numbers = [place for place, line in enumerate(lines) if "_us = { value = " in line]
    for place in draw.sample(numbers, 8):
        head, _, tail = lines[place].partition("value = ")
        value, _, rest = tail.partition(",")
        for changed in units_changed(value, draw, 2):
            content = [*lines[:place], f'{head}value = "{changed}",{rest}', *lines[place + 1 :]]
            Path(file).write_text("\n".join(content), encoding="utf-8")
            assert told(partial(read, file), f"{file}, line {place + 1}") == "", changed


@pytest.mark.parametrize(
    "changed",
    [
        ('models = ["NEW.*"]\n', ""),
        ('models = ["NEW.*"]', 'firmware = ["1"]'),
        ('["NEW.*"]', '["NEW.*", 7]'),
        ('family = "ours"', "family = 7"),
        ('read = "raw"\n', ""),
        ("id = 202", "id = true"),
        ("bits = [0, 32]", "bits = [false, 32]"),
        ("unit_bytes = 512", 'unit_bytes = "512 B"'),
        ("unit_bytes = 512", "unit_bytes = 512\nwarning = true"),
        ("unit_bytes = 512", "unit_bytes = 512\nname = [1]"),
        ('"ours"', '"ours"\nnot_told = 1'),
        ('"ours"', '"ours"\nsource = 1'),
    ],
)
def test_meanings_in_another_form(changed: tuple[str, str]) -> None:
    """A family that no drive is of, and a value of another type, are refused by name."""
    assert changed[0] in MEANINGS
    Path("own.toml").write_text(MEANINGS.replace(*changed), encoding="utf-8")
    with pytest.raises(SsdlabError, match="own.toml: "):
        read_overrides("own.toml")


STRANGE_REQUESTS = (
    "frobnication", "1,2", "# a note", "a,b,c,d,e,f,g,h", "9 9 9", ";;;", "5 d frob 0 4096",
    "hm,X,1,2,3", "8,0 1 1 0.5 9 Q X 8 + 8 [a]", "8,0 1 1 0.5 9 Z W 8 + 8 [a]",
    "total: 2 requests", "1.0,0.1,W,4,0",
)  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_lines_of_a_trace(name: str) -> None:
    """A request that nobody knows, anywhere in a trace of each format, is refused by its line."""
    for content, row in rows_inserted(SAME[name] * 2, STRANGE_REQUESTS):
        Path("trace").write_text(content, encoding="utf-8")
        assert is_told(partial(engine.survey_trace, "trace"), "trace") == "", row


def test_the_summary_of_blkparse_is_passed_over() -> None:
    """What blkparse adds at the end is no request and no fault."""
    summary = (
        "CPU0 (8,0):\n Reads Queued:           0,        0KiB\t Writes Queued:  11,  44KiB\n"
        " IO unplugs:             2        \t Timer unplugs:           0\n\nTotal (8,0):\n"
        " PC Reads Queued:        0,        0KiB\n\nThroughput (R/W): 0KiB/s / 44KiB/s\n"
        "Events (8,0): 21 entries\nSkips: 0 forward (0 -   0.0%)\n"
    )
    Path("trace").write_text(SAME["blkparse text"] + summary, encoding="utf-8")
    assert engine.survey_trace("trace")["writes"] == {"requests": 1, "bytes": 16384}
    Path("trace").write_text(SAME["blkparse text"] + summary + "Frobs: 7\n", encoding="utf-8")
    with pytest.raises(SsdlabError, match="'Frobs: 7' is no line of blkparse"):
        engine.survey_trace("trace")
