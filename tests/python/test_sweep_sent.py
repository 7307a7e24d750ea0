"""Files of a sweep's points on a worker: where it has them, and what it asks for."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from ssdlab.engine.request import RunRequest
from ssdlab.experiment import cache
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sweeps import sent
from ssdlab.study.sweeps.inside import with_included
from ssdlab.study.sweeps.point import Point, points
from ssdlab.study.sweeps.strict import parse

REQUEST = RunRequest(
    drive="mine.toml",
    settings=(("ftl.op", "mine.toml"), ("ftl.gc", "./mine.so:window=8")),
    layers=("flash-cache:drive=disk.toml,mode=writeback",),
    flags=("--read_iolog=day.log", "--iodepth=4"),
    job_text="[a]\nread_iolog = night.log\nrw=read\n",
)
STACK = """drive = "mine.toml" # at the bottom
set."ftl.gc" = "mine.so:window=8"
[[layer]]
kind = "cache"
drive = 'disk.toml'
"""
NAMES = ("day.log", "disk.toml", "mine.so", "mine.toml", "night.log")


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_cache: Path) -> list[sent.NamedFile]:
    monkeypatch.chdir(tmp_path)
    for name in NAMES:
        Path(name).write_text(f"contents of {name}")
    return [sent.named(name) for name in sorted(sent.files_of(REQUEST))]


def test_every_file_of_a_request_is_found_and_moved(files: list[sent.NamedFile]) -> None:
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


def test_a_worker_uses_what_it_has_and_asks_for_the_rest(files: list[sent.NamedFile]) -> None:
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


def test_what_files_name_is_found(files: list[sent.NamedFile]) -> None:
    """A stack's drive, its library and a layer's drive, and the libraries that profiles name."""
    Path("host.toml").write_text(STACK)
    Path("mine.toml").write_text("ftl.gc = { value = 'own.so:window=8', kind = 'assumed' }\n")
    Path("own.so").write_text("contents of own.so")
    request = RunRequest(drive="host.toml")
    assert sent.files_of(request) == {"host.toml", "mine.toml", "own.so", "mine.so", "disk.toml"}
    assert sent.named("host.toml").inside == ("mine.toml", "mine.so", "disk.toml")
    Path("host.toml").write_text("drive = [\n")
    assert sent.files_of(request) == {"host.toml"}, "the engine tells what is wrong with it"


def test_a_stack_is_copied_with_the_places_of_what_it_names(files: list[sent.NamedFile]) -> None:
    """What it names otherwise stays; a profile that names a moved library is copied first."""
    Path("host.toml").write_text(STACK)
    Path("mine.toml").write_text('ftl.gc = "./own.so"\n')
    Path("own.so").write_text("contents of own.so")
    named = [sent.named(name) for name in sorted(sent.files_of(RunRequest(drive="host.toml")))]
    content = {each: sent.contents(each) for each in named}
    for name in ("own.so", "disk.toml"):
        Path(name).unlink()
    missing = sent.here(named)[1]
    assert [each.name for each in missing] == ["disk.toml", "own.so"]
    sent.keep([(each, content[each]) for each in missing])
    places, missing = sent.here(named)
    assert not missing and sorted(places) == ["disk.toml", "host.toml", "mine.toml", "own.so"]
    assert Path(places["host.toml"]).name == "host.toml"
    assert Path(places["host.toml"]).read_text() == STACK.replace(
        '"mine.toml"', f'"{places["mine.toml"]}"'
    ).replace("'disk.toml'", f'"{places["disk.toml"]}"')
    assert Path(places["mine.toml"]).read_text() == f'ftl.gc = "{places["own.so"]}"\n'
    assert sent.moved(RunRequest(drive="host.toml"), places).drive == places["host.toml"]
    assert sent.here(named) == (places, []), "the copies are found again"


def test_what_a_stack_names_is_part_of_the_key(files: list[sent.NamedFile]) -> None:
    """Another content of a file that only the stack names makes another point."""
    Path("host.toml").write_text(STACK)

    def key() -> str:
        return Point(0, RunRequest(drive="host.toml"), {}).key

    before = key()
    assert key() == before
    Path("disk.toml").write_text("contents of another disk")
    assert key() != before


def test_a_job_comes_with_what_it_includes(files: list[sent.NamedFile]) -> None:
    """Beside the including file or where the command is given; what cannot be read stays."""
    Path("jobs").mkdir()
    Path("jobs/load.fio").write_text("include common.fio ; ours\n[a]\nrw=read\n")
    Path("jobs/common.fio").write_text("[global]\ninclude night.fio\ninclude nowhere.fio")
    Path("night.fio").write_text("read_iolog=night.log")
    study = parse('[base]\ndrives = ["theory"]\njob = "jobs/load.fio"\n')
    request = next(points(study)).request
    whole = ["[global]", "read_iolog=night.log", "include nowhere.fio", "[a]", "rw=read"]
    assert [line for line in (request.job_text or "").splitlines() if line] == whole
    assert request.job_name == "jobs/load.fio" and sent.files_of(request) == {"night.log"}


def test_includes_without_end(files: list[sent.NamedFile]) -> None:
    """The engine refuses a circle, as it does without a sweep; what grows too large is refused."""
    Path("circle.fio").write_text("include circle.fio\n[a]\n")
    assert "include circle.fio" in with_included("include circle.fio\n", "load.fio")
    Path("large.fio").write_text("#" * (1 << 20) + "\ninclude large.fio\ninclude large.fio\n")
    with pytest.raises(SsdlabError, match=r"load\.fio: with the files .* the limit of 16 MiB"):
        with_included("include large.fio\n", "load.fio")


def test_what_has_changed_is_not_sent(files: list[sent.NamedFile]) -> None:
    """A point's key holds for what it was when the sweep began."""
    Path("day.log").write_text("contents of a day")
    with pytest.raises(SsdlabError, match=r"day\.log: has changed since the sweep began"):
        sent.contents(files[0])


def test_what_nobody_used_for_a_week_goes(files: list[sent.NamedFile]) -> None:
    """When the next file comes; `ssdlab cache clear` removes the others."""
    day, disk, *_ = files
    sent.keep([(day, b"old")])
    week_ago = time.time() - 8 * 86_400
    os.utime(day.kept, (week_ago, week_ago))
    sent.keep([(disk, b"new")])
    assert not day.kept.exists() and disk.kept.exists()
    assert cache.clear() == 3 and not disk.kept.exists()
