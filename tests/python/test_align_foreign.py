"""What ``ssdlab align check`` says of files that are neither listings nor layouts."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from foreign_files import BYTES, TEXT
from listing_files import RIGHT, text_of

Command = Callable[..., tuple[int, str, str]]
FILES = {**{name: text.encode() for name, text in TEXT.items()}, **BYTES}
RECOGNISED = {
    "empty": "an empty file",
    "fio": "a result of fio",
    "job": "ssdlab run runs it",
    "smartctl": "ssdlab health reads it",
    "smartctl json": "ssdlab health reads it",
    "nvme smart-log": "ssdlab health reads it",
    "html": "an HTML page",
    "csv": "(CSV)",
    "df": "what df printed",
    "mount": "what mount printed",
    "mdadm": "describe its layers with --layer",
    "lvs": "describe its layers with --layer",
    "zpool status": "what zpool printed",
    "dmesg": "a log of the kernel",
    "script": "a script",
    "png": "a PNG image",
    "pdf": "a PDF document",
    "gzip": "a gzip file",
    "mbr itself": "list its partitions: fdisk -l FILE",
    "gpt itself": "a GUID partition table in binary form",
}


def test_there_are_ninety() -> None:
    """Of text and of bytes."""
    assert len(FILES) >= 90


@pytest.mark.parametrize("name", FILES)
def test_a_foreign_file(command: Command, tmp_path: Path, name: str) -> None:
    """It is refused with its name, the place, and what to give instead; never called aligned."""
    (tmp_path / "given.txt").write_bytes(FILES[name])
    code, out, err = command("align", "check", "given.txt")
    assert code in (2, 4)
    said = err if code == 2 else out
    assert "Aligned" not in out and "Traceback" not in err
    if code == 2:
        assert out == "" and "given.txt" in err
        assert "give a layout (TOML or JSON)" in err or "known: " in err or "no layers" in err
        assert any(place in err for place in ("line ", "byte ", "key ", "no layers"))
    assert RECOGNISED.get(name, "") in " ".join(said.split())
    assert len(err) < 2000


@pytest.mark.parametrize("name", ["fio", "png", "empty", "letter", "csv"])
def test_on_standard_input(command: Command, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """It is called standard input there, and JSON is asked for in vain: nothing on stdout."""
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FILES[name])))
    code, out, err = command("align", "check", "-", "--json")
    assert (code, out) == (2, "") and "standard input" in err


@pytest.mark.parametrize("name", ["letter", "html", "df", "log", "csv", "smartctl"])
def test_a_foreign_text_around_a_listing(command: Command, tmp_path: Path, name: str) -> None:
    """Each of its rows is quoted, before and after, and the answer is not that all is well."""
    listing = text_of("04-sfdisk-luB-blocks.txt")
    assert RIGHT["04-sfdisk-luB-blocks.txt"].exit == 0
    for text in (f"{TEXT[name]}\n{listing}", f"{listing}\n{TEXT[name]}"):
        (tmp_path / "given.txt").write_text(text)
        code, out, _ = command("align", "check", "given.txt", "--json")
        assert code != 0
        quoted = {each["quoted"].strip() for each in json.loads(out)["unread"]}
        rows = {line.strip() for line in TEXT[name].expandtabs().splitlines() if line.strip()}
        assert rows <= quoted
        assert "Aligned" not in command("align", "check", "given.txt")[1]
