"""Files of a sweep's points on a worker: where it has them, and what it asks for."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ssdlab import cache
from ssdlab.errors import SsdlabError
from ssdlab.request import RunRequest
from ssdlab.sweeps import sent

REQUEST = RunRequest(
    drive="mine.toml",
    settings=(("ftl.op", "mine.toml"), ("ftl.gc", "./mine.so:window=8")),
    layers=("flash-cache:drive=disk.toml,mode=writeback",),
    flags=("--read_iolog=day.log", "--iodepth=4"),
    job_text="[a]\nread_iolog = night.log\nrw=read\n",
)
NAMES = ("day.log", "disk.toml", "mine.so", "mine.toml", "night.log")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> list[sent.Named]:
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        Path(name).write_text(f"contents of {name}")
    return [sent.named(name) for name in sorted(sent.files_of(REQUEST))]


def test_every_file_of_a_request_is_found_and_moved(files: list[sent.Named]) -> None:
    """Drive, policy, layer's drive, and what flags and job file name; nothing else is touched."""
    assert tuple(each.name for each in files) == NAMES
    places = {name: f"/there/{name}" for name in NAMES}
    assert sent.moved(REQUEST, places) == RunRequest(
        drive="/there/mine.toml",
        settings=(("ftl.op", "mine.toml"), ("ftl.gc", "/there/mine.so:window=8")),
        layers=("flash-cache:drive=/there/disk.toml,mode=writeback",),
        flags=("--read_iolog=/there/day.log", "--iodepth=4"),
        job_text="[a]\nread_iolog = /there/night.log\nrw=read\n",
    )


def test_a_worker_uses_what_it_has_and_asks_for_the_rest(files: list[sent.Named]) -> None:
    """The same name with other contents is not the same file."""
    content = {each: sent.contents(each) for each in files}
    Path("day.log").write_text("contents of another")
    Path("mine.so").unlink()
    places, missing = sent.here(files)
    assert not places and [each.name for each in missing] == ["day.log", "mine.so"]
    sent.keep([(each, content[each]) for each in missing])
    places, missing = sent.here(files)
    assert not missing and sorted(places) == ["day.log", "mine.so"]
    assert {Path(place).read_bytes() for place in places.values()} == {
        *(content[each] for each in files if each.name in places)
    }


def test_what_has_changed_is_not_sent(files: list[sent.Named]) -> None:
    """A point's key holds for what it was when the sweep began."""
    Path("day.log").write_text("contents of a day")
    with pytest.raises(SsdlabError, match=r"day\.log: has changed since the sweep began"):
        sent.contents(files[0])


def test_what_nobody_used_for_a_week_goes(files: list[sent.Named]) -> None:
    """When the next file comes; `ssdlab cache clear` removes the others."""
    day, disk, *_ = files
    sent.keep([(day, b"old")])
    week_ago = time.time() - 8 * 86_400
    os.utime(day.kept, (week_ago, week_ago))
    sent.keep([(disk, b"new")])
    assert not day.kept.exists() and disk.kept.exists()
    assert cache.clear() == 3 and not disk.kept.exists()
