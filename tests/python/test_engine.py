"""The command and the package with the real engine underneath."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.report import theme
from ssdlab.report.page import build_html
from test_report import Page

Command = Callable[..., tuple[int, str, str]]
SMALL = ("--drive", "theory", "--set", "capacity_bytes=1GiB")
WRITES = ("--name=writes", "--rw=randwrite", "--bs=4k", "--iodepth=16", "--io_size=64m")
CLOCK = {"wall_s", "cpu_s", "timestamp", "timestamp_ms", "time"}
CLOCK_OF_FIO = {"usr_cpu", "sys_cpu", "ctx", "majf", "minf"}


def without_clock(value: Any) -> Any:
    """Drop what may differ between two equal runs."""
    if isinstance(value, dict):
        kept = value.keys() - CLOCK - CLOCK_OF_FIO
        return {key: without_clock(value[key]) for key in value if key in kept}
    if isinstance(value, list):
        return [without_clock(each) for each in value]
    return value


def test_every_profile_can_be_shown(command: Command) -> None:
    """Each profile that is listed is whole: every parameter has a value, a kind and a source."""
    code, out, _ = command("drives", "--json")
    assert code == 0
    names = [profile["name"] for profile in json.loads(out)]
    assert {"theory", "intel-dc-s3500-80gb"} <= set(names)
    for name in names:
        code, out, _ = command("show", name, "--json")
        assert code == 0
        for parameter in json.loads(out)["parameters"]:
            assert parameter["kind"] and parameter["source"], parameter["key"]


def test_tables_in_a_pipe_are_plain(command: Command) -> None:
    """Without a terminal there are no colours and no frames."""
    for arguments in (("drives",), ("show", "theory")):
        code, out, _ = command(*arguments)
        assert code == 0
        assert "\x1b" not in out
        assert "─" not in out


def test_two_equal_runs_are_equal(command: Command) -> None:
    """The same drive, job and seed give the same but for the clock; another seed does not."""
    # On a used drive the places that are written decide what garbage collection has to move.
    used = ("--state", "used", "--output-format=json+")
    outputs = []
    for seed in ("1", "1", "2"):
        code, out, _ = command("run", *WRITES, *SMALL, *used, "--seed", seed)
        assert code == 0
        outputs.append(without_clock(json.loads(out)))
    assert outputs[0] == outputs[1]
    assert outputs[0]["jobs"][0]["write"] != outputs[2]["jobs"][0]["write"]


def test_normal_text_is_that_of_fio(command: Command) -> None:
    """`normal` is what people know from fio."""
    code, out, _ = command("run", *WRITES, *SMALL)
    assert code == 0
    assert "writes: (groupid=0, jobs=1)" in out
    assert "IOPS=" in out


def test_a_real_result_fills_every_section(command: Command) -> None:
    """What the engine writes is what the report reads."""
    code, out, _ = command(
        *("run", *WRITES, *SMALL, "--state", "used", "--timeline", "1ms,5ms"),
        "--output-format=json+",
    )
    assert code == 0
    result = ssdlab.Result.from_json(out)
    # What the report does not know it cannot draw.
    assert {each["kind"] for each in result.job().lab["timeline"]} <= theme.KINDS.keys()
    page = Page(build_html([result]))
    for heading in (
        *("Over time", "Latency", "Where the time went", "Single operations", "Wear"),
        "Parameters of the drives",
    ):
        assert heading in page.headings


def test_a_seasoned_drive_is_kept_and_used(command: Command) -> None:
    """A run from a drive file equals the run that brings the drive into the condition itself."""
    code, out, _ = command("season", *SMALL[1:], "--to", "used", "-o", "used.ssd")
    assert code == 0
    assert out.startswith("used.ssd: used")
    code, out, _ = command("show", "used.ssd")
    assert code == 0
    assert out.startswith("theory · used · used.ssd\n")
    assert "erases of a block" in out
    assert "nand_pages_written" in out
    results = []
    for drive in (("--drive", "used.ssd"), (*SMALL, "--state", "used")):
        code, out, _ = command("run", *WRITES, *drive, "--output-format=json")
        assert code == 0
        results.append(without_clock(json.loads(out))["jobs"][0]["write"])
    assert results[0] == results[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--rw=randwrite", "direct=1", "--drive", "theory"), "--direct=1"),
        (("--rw=randwrite", "--drive", "theori"), "theory"),
        (("--rw=randwrite", "--drive", "theory", "--set", "ftl.cg=fifo"), "ftl.gc"),
        (("--rw=randwrite", "--drive", "theory", "--set", "nand.planes=0"), "nand.planes"),
        (("--rw=randwrit", "--drive", "theory"), "randwrit"),
        (("--rw=randwrite", "--bs=1000", "--direct=1", "--drive", "theory"), "1000"),
        (("--rw=randwrite", "--size=2t", "--drive", "theory"), "size"),
    ],
)
def test_errors_are_plain(command: Command, arguments: tuple[str, ...], message: str) -> None:
    """A few lines on stderr with place and remedy, exit code 2, nothing written."""
    code, out, err = command("run", *arguments, "--output", "result.json")
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err
    assert len(err.splitlines()) <= 6
    assert list(Path().iterdir()) == []


def test_package() -> None:
    """The package gives in a few lines what the command gives."""
    drive = ssdlab.drive("theory", capacity_bytes="1GiB")
    used = drive.season("used")
    result = used.run(rw="randwrite", bs="4k", iodepth=16, io_size="64m")
    job = result.job()
    assert job.iops() > 0
    assert job.condition == "used"
    assert (job.write_amplification or 0) > 1
    assert job.percentile_ns(99) is not None
    assert ssdlab.theory(0.28)["write_amplification"] > 1
    with pytest.raises(ssdlab.SsdlabError):
        drive.run(rw="no such pattern")


def test_a_temporary_drive_file_goes_with_its_drive(tmp_path: Path) -> None:
    """The file is removed at the end of the block, or once nothing refers to the drive."""
    fresh = ssdlab.drive("theory", capacity_bytes="1GiB")
    with fresh.season("filled") as filled:
        assert Path(filled.name).is_file()
    assert not Path(filled.name).parent.exists()
    used = fresh.season("filled")
    folder = Path(used.name).parent
    del used
    assert not folder.exists()
    with fresh.season("filled", save=tmp_path / "kept.ssd") as kept:
        pass
    assert Path(kept.name).is_file()
    with pytest.raises(ssdlab.SsdlabError):
        fresh.season("no such condition")


def test_progress_stops_a_run() -> None:
    """A callback that returns False ends the run, with what it had done or with nothing."""
    drive = ssdlab.drive("theory", capacity_bytes="1GiB")
    phases: list[str] = []

    def stop(phase: str, share: float) -> bool:
        phases.append(phase)
        assert 0 <= share <= 1
        return False

    try:
        result = drive.run(rw="randwrite", bs="4k", loops=50, state="used", progress=stop)
    except ssdlab.Stopped:
        pass
    else:
        assert all(job.lab["interrupted"] for job in result.jobs)
    assert phases


def test_starting_over(command: Command) -> None:
    """A secure erase erases a drive file's blocks and makes it fresh but for the wear."""
    small = ("--set", "capacity_bytes=256MiB")
    assert command("season", "theory", "--to", "used", "-o", "used.ssd", *small)[0] == 0
    code, out, err = command("season", "used.ssd", "--start-over", "secure-erase")
    assert (code, err) == (0, "")
    assert "used-secure-erase.ssd: fresh, secure erased" in out
    assert "wear stays" in out
    shown = json.loads(command("show", "used-secure-erase.ssd", "--json")[1])
    assert shown["wear"]["erase_counts"]["mean"] > 1
    assert shown["drive_file"] == "used-secure-erase.ssd"
    assert shown["counters"]["secure_erases"] == 1


def test_starting_over_and_filling_again(command: Command) -> None:
    """A trimmed drive can be filled again in the same command; a crypto-erased one is full."""
    assert command("season", "theory", "--to", "used", "-o", "a.ssd", *SMALL[2:])[0] == 0
    again = ("season", "a.ssd", "--to", "filled", "-o", "b.ssd", "--start-over")
    assert command(*again, "trim")[0] == 0
    code, _, err = command(*again, "crypto-erase")
    assert code == 2
    assert "used already and cannot become filled again" in err


def test_starting_over_needs_a_way(command: Command) -> None:
    """Without a condition and a way to start over there is nothing to do; both lists are told."""
    code, _, err = command("season", "theory")
    assert code == 2
    assert "fresh, filled, used, steady" in err
    assert "secure-erase, crypto-erase, trim" in err


def test_drive_starts_over_in_python() -> None:
    """The drive that started over is a drive of its own; the old one is as it was."""
    with ssdlab.drive("theory", capacity_bytes="256MiB").season("filled") as filled:
        with filled.start_over("trim") as trimmed:
            assert trimmed.show()["started_over"] == "trim"
            assert trimmed.show()["condition"] == "filled"
        assert filled.show()["started_over"] is None


def test_missing_iolog_names_its_path_once(command: Command) -> None:
    """The option names the path; the reason does not repeat it."""
    code, _, err = command("run", "--read_iolog=nowhere.log", *SMALL)
    assert code == 2
    assert err.count("nowhere.log") == 1


def test_what_follows_is_shown_in_words(command: Command) -> None:
    """Numbers of each unit as people read them, and no figure where no trim passes."""
    _, out, _ = command("show", "intel-dc-s3500-80gb", "--layer", "crypt")
    section = out.partition("what follows")[2].splitlines()
    rows = {
        parts[0].strip(): parts[1].strip()
        for row in section
        if len(parts := re.split(" {2,}", row)) > 2
    }
    assert rows["physical"] == "94.5 GB"
    assert rows["spare share"] == "18.1 %"
    assert (rows["row"], rows["blocks a die"]) == ("16 KiB", "2815")
    assert rows["trims"] == "–"


def test_map_sizes_are_shown(command: Command) -> None:
    """1 GiB in 4 KiB units: 32 KiB of page states at a bit each, a map of 1 MiB."""
    _, out, _ = command("show", "theory", "--set", "capacity_bytes=1GiB", "--json")
    derived = {each["key"]: (each["value"], each["unit"]) for each in json.loads(out)["derived"]}
    assert derived["page states"] == (32768, "B")
    assert derived["map"] == (1048576, "B")
