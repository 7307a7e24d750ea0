"""Numbers out of bounds, figures that are none, files without end: one error, no traceback."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ssdlab
from process import HEALTH, RUN, SMALL, ssdlab_run
from ssdlab.ground.errors import SsdlabError

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]


@pytest.mark.parametrize("number", ["-1", "99999999999999999999", "1e308", "1.5", "9" * 5000, ""])
@pytest.mark.parametrize(
    "words",
    [
        ("season", *SMALL, "--to", "fresh", "--seed"),
        ("demo", "--seed"),
        (*RUN, "--seed"),
        ("theory", "--op", "0.07", "--pages-per-block"),
        (*RUN, "--iodepth"),
        (*RUN, "--numjobs"),
        (*RUN, "--io_size"),
    ],
    ids=" ".join,
)
def test_numbers_out_of_bounds(command: Command, words: tuple[str, ...], number: str) -> None:
    """Refused before anything is done; the option is named."""
    if words[-1] == "--io_size" and number == "1.5":
        pytest.skip("a size may have a fraction")
    code, out, err = command(*words[:-1], f"{words[-1]}={number}")
    assert (code, out) == (2, "")
    assert words[-1].lstrip("-") in err and "Traceback" not in err
    assert list(Path().iterdir()) == []


def test_seeds_out_of_bounds_from_python() -> None:
    """A call says so too, instead of an OverflowError."""
    drive = ssdlab.drive("theory", capacity_bytes="1GiB")
    for seed in (-1, 1 << 64):
        with pytest.raises(SsdlabError, match="must be a whole number from 0"):
            drive.season("filled", seed=seed)
        with pytest.raises(SsdlabError, match="must be a whole number from 0"):
            drive.run(rw="read", seed=seed)


@pytest.mark.parametrize("value", ["NaN", "Infinity", "-Infinity", "1e999", '"many"', "{}", "[]"])
@pytest.mark.parametrize("words", [("report",), ("compare", "old.json")], ids=" ".join)
def test_figures_that_are_none(
    command: Command, inputs: Path, words: tuple[str, ...], value: str
) -> None:
    """They are refused with file, place and value, not drawn or computed with."""
    result = json.loads((inputs / "old.json").read_text())
    result["jobs"][0]["write"]["iops"] = "HERE"
    (inputs / "bad.json").write_text(json.dumps(result).replace('"HERE"', value))
    code, out, err = command(*words, "bad.json")
    assert (code, out) == (2, "")
    assert "bad.json: jobs[0] (" in err and "write.iops is " in err
    assert not (inputs / "report.html").exists()


def leaves(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Give the way to every entry, but for long lists only to the first."""
    yield path
    if isinstance(value, dict):
        for key, each in value.items():
            yield from leaves(each, (*path, key))
    elif isinstance(value, list) and value:
        yield from leaves(value[0], (*path, 0))


def changed(document: str, path: tuple[str | int, ...], value: object) -> str:
    root = json.loads(document)
    place = root
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(root)


def test_results_of_any_shape_are_no_traceback(command: Command, inputs: Path) -> None:
    """Whatever an entry of a result is changed to, the answer is a table or one error."""
    document = (inputs / "old.json").read_text()
    ways = [path for path in leaves(json.loads(document)) if path]
    for number, path in enumerate(ways):
        values: tuple[object, ...] = (None, "many", [], {}, 1e400, -1, [[]], True)
        value = values[number % len(values)]
        (inputs / "bad.json").write_text(changed(document, path, value))
        code, out, err = command("compare", "old.json", "bad.json")
        assert code in (0, 2, 4), path
        if code == 4:
            assert "not judged:" in out and "bad.json: " in out, (path, out)
        assert code != 2 or "bad.json" in err or "nothing to compare" in err, (path, err)


@pytest.mark.parametrize(
    ("value", "keys"),
    [
        (None, ("wear", "series")),
        ("many", ("utilization", "timeline", "parameters")),
        ([], ("wear", "series")),
        ([1], ("layers", "timeline")),
    ],
)
def test_reports_of_any_shape_are_no_traceback(
    command: Command, inputs: Path, value: object, keys: tuple[str, ...]
) -> None:
    """As above, for what the report reads of our own object, which takes longer to draw."""
    document = (inputs / "old.json").read_text()
    for key in keys:
        (inputs / "bad.json").write_text(changed(document, ("jobs", 0, "ssdlab", key), value))
        code, _, err = command("report", "bad.json", "-o", "bad.html")
        assert code in (0, 2) or (code == 4 and key == "series"), key
        assert code == 0 or "bad.json" in err, (key, err)


ENDLESS_READERS = {
    "job file": ("run", "{}", "--drive", *SMALL),
    "report": ("report", "{}"),
    "fit": ("fit", "{}", "--drive", "theory", "-o", "x.toml"),
    "twin": ("twin", "{}", "--drive", "theory", "-o", "x.toml"),
    "compare": ("compare", "old.json", "{}"),
    "sizing --prices": ("sizing", "--iops", "1", "--drive", "theory", "--prices", "{}"),
    "read_iolog": ("run", "--rw=read", "--read_iolog={}", "--drive", *SMALL),
    "drive": ("run", "--rw=read", "--drive", "{}"),
    "stack": ("run", "--rw=read", "--stack", "{}"),
    "sweep": ("sweep", "{}", "-o", "new"),
    "import": ("import", "{}", "-o", "new.log"),
    "health --from": ("health", "--from", "{}"),
    "health --history": (*HEALTH, "--history", "{}"),
    "health --baseline": (*HEALTH, "--baseline", "{}"),
    "health --meanings": (*HEALTH, "--meanings", "{}"),
    "audit --root": ("audit", "--root", "{}"),
    "align": ("align", "{}"),
}


@pytest.mark.parametrize("reader", ENDLESS_READERS)
def test_files_without_end(inputs: Path, monkeypatch: pytest.MonkeyPatch, reader: str) -> None:
    """Zeros or lines without end are refused, in bounded memory, with what the limit is."""
    monkeypatch.chdir(inputs)
    Path("lines.toml").symlink_to("/dev/stdin")
    for name, shell in (("/dev/zero", "{}"), ("lines.toml", "yes '# no end' | {}")):
        words = [word.format(name) for word in ENDLESS_READERS[reader]]
        limited = f"ulimit -v 6000000; {shell}"
        if reader == "audit --root" and "yes" in shell:
            limited = shell
        code, _, err = ssdlab_run(*words, shell=limited.replace("set -o pipefail", ""))
        assert "Traceback" not in err and "memory allocation" not in err, err
        assert code in (2, 141), err
        assert name in err, err


def test_a_text_may_be_as_large_as_the_limit(command: Command, tmp_path: Path) -> None:
    """16 MiB of a job file are read, one byte more is refused with that limit."""
    job = "[a]\nrw=read\nnumber_ios=1\n"
    for length, answer in ((16 << 20, 0), ((16 << 20) + 1, 2)):
        (tmp_path / "job.fio").write_text(job.ljust(length, "\n"))
        code, _, err = command("run", "job.fio", "--drive", *SMALL)
        assert code == answer, err
    assert "larger than the limit of 16 MiB" in err


def test_more_requests_than_memory(inputs: Path) -> None:
    """Clones times depth is told with the memory that it would take; the process goes on."""
    words = (*RUN, "--numjobs=4096", "--iodepth=65536")
    for limit in ("8000000", "unlimited"):
        code, out, err = ssdlab_run(*words, shell=f"ulimit -v {limit}; {{}}")
        assert (code, out) == (2, "")
        assert "268439552 requests in flight" in err and "MiB of memory" in err
