"""Jobs that are included by name: what they ask for, and the line that runs them with fio."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab.engine.result import Result
from ssdlab.experiment import jobs
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.demo import figures, perform, plan
from stand_in import StandIn
from test_demo import part

Command = Callable[..., tuple[int, str, str]]
EBOOK = {
    "readtp": ("read", 5 << 30, 1 << 20),
    "writetp": ("write", 5 << 30, 1 << 20),
    "readiops": ("randread", 1 << 30, 4096),
    "writeiops": ("randwrite", 1 << 30, 4096),
    "mixediops": ("randrw", 1 << 30, 4096),
}
"""Thomas-Krenn, High Performance Solid State Drives in servers, p. 16."""


def test_baseline_is_the_five_jobs_of_the_ebook(command: Command) -> None:
    """Each job does the I/O of its line in the e-book, one after the other, at depth 16."""
    code, out, err = command(
        *("run", "baseline", "--drive", "theory", "--output-format", "json", "--eta=never")
    )
    assert code == 0, err
    found = json.loads(out)["jobs"]
    assert [job["jobname"] for job in found] == list(EBOOK)
    assert [job["groupid"] for job in found] == [0, 1, 2, 3, 4]
    for job in found:
        rw, size, block = EBOOK[job["jobname"]]
        asked = job["ssdlab"]["job"]
        assert (asked["rw"], asked["iodepth"]) == (rw, 16)
        assert asked["bs_bytes"]["read"] == [block, block]
        assert job["read"]["io_bytes"] + job["write"]["io_bytes"] == size


def test_demo_and_baseline_are_the_same_jobs() -> None:
    """What the demo calls the e-book's jobs asks for what the included file asks for."""
    line = jobs.fio_line("baseline", "/dev/ssd")
    assert line is not None
    for drive in plan.drives():
        for measured in drive.measurements:
            if measured.job_name in EBOOK:
                rw, size, block = measured.job_text.split("\n")[-4:-1]
                assert f"--name={measured.job_name} --{rw} --{size} --{block}" in line


@pytest.mark.parametrize("name", jobs.names())
def test_fio_takes_the_line(name: str, tmp_path: Path) -> None:
    """fio itself reads the line without a complaint; it is only asked to parse it."""
    if shutil.which("fio") is None:
        pytest.skip("fio is not installed")
    line = jobs.fio_line(name, str(tmp_path / "drive"))
    assert line is not None
    _, *arguments = shlex.split(line)
    asked = subprocess.run(
        ["fio", "--parse-only", *arguments], capture_output=True, text=True, check=False
    )
    assert (asked.returncode, asked.stderr) == (0, "")


def test_run_tells_the_line_and_its_danger(stand_in: StandIn, command: Command) -> None:
    """After an included job stderr has fio's line with the given flags; stdout stays the result."""
    _, out, err = command("run", "baseline", "--drive", "a", "--iodepth=1")
    assert "OVERWRITES" in err and "fio" not in out
    line = err.strip().splitlines()[-1]
    assert line.startswith("fio --filename=/dev/sdX ")
    assert line.count("--iodepth=1 ") + line.endswith("--iodepth=1") == 5


def test_a_file_of_that_name_is_another_job(stand_in: StandIn, command: Command) -> None:
    """A user's own file called baseline is run, and no line of ours is shown."""
    Path("baseline").write_text("[mine]\nrw=read\n")
    _, _, err = command("run", "baseline", "--drive", "a")
    assert stand_in.runs[0]["job_text"] == "[mine]\nrw=read\n"
    assert "fio" not in err


def test_demo_refuses_what_cannot_be_had_fresh() -> None:
    """A hard disk has no steady state to be brought into."""
    with pytest.raises(SsdlabError, match="name a profile"):
        perform.drive_facts("fujitsu-mhz2250bh")


def test_demo_knows_each_drive() -> None:
    """The 80 GB drive has 88 GiB of flash, after its profile's source."""
    facts = perform.drive_facts("intel-dc-s3500-80gb")
    assert facts["title"] == "Intel SSD DC S3500 80 GB"
    assert facts["flash_bytes"] == pytest.approx(88 << 30, rel=1e-4)


def test_figures_of_a_drive_stay_with_it() -> None:
    """100 MB/s is published of the DC S3500; of another drive it says nothing, remedies do."""
    for drive, said in (("intel-dc-s3500-80gb", True), ("theory", False)):
        results = [_of(part(name), drive) for name in ("writetp-fresh", "randwrite-unused-20")]
        of_write, of_spare = figures.figures(results)
        assert (of_write.published is not None) is said
        assert of_spare.published is not None


def _of(result: Result, drive: str) -> Result:
    document = result.to_dict()
    document["ssdlab experiment"]["drive"] = drive
    return Result(document, result.name)
