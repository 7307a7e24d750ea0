"""`ssdlab run --target`: a job by fio on a real file or export, and what it may not touch."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from machine import MadeMachine
from ssdlab.bench.real.fio_program import Fio
from ssdlab.bench.real.job import open_target
from ssdlab.bench.real.job_words import check_within, for_target
from ssdlab.bench.real.safety import Refused, permit_file
from ssdlab.bench.real.wishes import Wishes
from ssdlab.ground.errors import SsdlabError, Stopped

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
WRITES = ("--rw=randwrite", "--bs=4k", "--number_ios=200")
SIZE = 8 << 20
needs_fio = pytest.mark.skipif(shutil.which("fio") is None, reason="needs fio")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("disk.img").write_bytes(bytes(SIZE))


def digest(path: str = "disk.img") -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def test_a_job_goes_to_the_target_alone() -> None:
    """What names a place is taken out of every job and told; flags stand last."""
    text = (
        "[global]\nfilename=/dev/sda\nbs=8k\n; a comment\n[a]\nrw=read\n[b]\nrw=randwrite\n"
        "directory=/home\nioengine=sync\ndirect=0\n"
    )
    job = for_target(text, "x.fio", ("--iodepth=4", "--section=b"), ("filename=/dev/null",))
    assert job.text.splitlines() == [
        *("[b]", "filename=/dev/null", "bs=8k", "rw=randwrite", "iodepth=4"),
    ]
    assert job.writes
    assert [each.partition(":")[0] for each in job.notices] == [
        *("filename=/dev/sda", "directory=/home", "ioengine=sync", "direct=0"),
    ]
    assert not for_target(text, "x.fio", ("--section=a",), ()).writes
    assert for_target(text, "x.fio", (), ()).writes


@pytest.mark.parametrize(
    ("flags", "writes"),
    [
        (("--rw=read",), False),
        (("--bs=4k",), False),
        (("--rw=randread", "--readwrite=trim"), True),
        (("--rw=randrw:2",), True),
        (("--rw=read:4k",), False),
        (("--rw=write",), True),
    ],
)
def test_which_jobs_write(flags: tuple[str, ...], writes: bool) -> None:
    """The last rw counts, under either name, and read is fio's default."""
    assert for_target(None, "command line", flags, ()).writes is writes


@pytest.mark.parametrize(
    "text",
    [
        "[a]\nrw=write\nexec_prerun=ls\n",
        "[a]\nrw=read\nopendir=/home\n",
        "[a]\nrw=write\nwrite_iolog=/etc/passwd\n",
        "[a]\nrw=write\niomem=mmap:/etc/passwd\n",
    ],
)
def test_what_names_files_or_programs_is_refused(text: str) -> None:
    """No program is started, and no file beside the target opened."""
    with pytest.raises(SsdlabError, match="x.fio"):
        for_target(text, "x.fio", (), ())


@pytest.mark.parametrize(
    ("options", "fits"),
    [
        (("size=8m",), True),
        (("size=9m",), False),
        (("size=50%", "offset=4m"), True),
        (("size=60%", "offset=4m"), False),
        (("filesize=1g",), False),
        (("fileoffset=5m", "size=4m"), False),
        (("size=all",), False),
    ],
)
def test_a_job_stays_within_a_file(options: tuple[str, ...], fits: bool) -> None:
    """Else fio would empty the file and make it larger."""
    job = for_target(None, "command line", ("--rw=write",), options)
    if fits:
        check_within(job, SIZE, "disk.img")
    else:
        with pytest.raises(SsdlabError, match="goes beyond its end"):
            check_within(job, SIZE, "disk.img")


@pytest.mark.parametrize(
    ("machine", "said"),
    [
        ({"/sys/block/loop3/loop/backing_file": "{}"}, "is below /dev/loop3"),
        ({"/proc/swaps": "Filename Type\n{} file 8192 0 -2\n"}, "is swap"),
    ],
)
def test_a_file_in_use_is_refused(machine: dict[str, str], said: str) -> None:
    """Whatever it is named: by a loop device over it, or as swap."""
    path = os.path.realpath("disk.img")
    made = MadeMachine()
    made.folders["/sys/block"] = ["loop3"]
    for name, text in machine.items():
        made.file(name, text.format(path))
    system = made.system()
    with pytest.raises(Refused, match=said):
        permit_file("disk.img", ["disk.img"], ["disk.img"], system)


def test_a_file_that_is_replaced_meanwhile(tmp_path: Path) -> None:
    """The permission was for another file."""
    with permit_file("disk.img", ["disk.img"]) as permission:
        permission.check()
        Path("other.img").write_bytes(bytes(SIZE))
        os.replace("other.img", "disk.img")
        with pytest.raises(Refused, match="nothing was written"):
            permission.check()


def test_nothing_is_written_unless_it_is_named(command: Command) -> None:
    """Exit code 2, with the option that allows it; the file stays as it was."""
    for content, words, said in (
        (b"", (), "--destroy disk.img"),
        (b"data", ("--destroy", "disk.img"), "--destroy-content disk.img"),
        (b"", ("--destroy", "other.img"), "--destroy disk.img"),
        (b"", ("--destroy", "disk.img", "--size=1g"), "goes beyond its end"),
    ):
        Path("disk.img").write_bytes(content.ljust(SIZE, b"\0"))
        before = digest()
        code, out, error = command("run", *WRITES, "--target", "disk.img", *words)
        assert (code, out) == (2, "") and said in error, error
        assert digest() == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--target", "none.img"), "none.img: no such file or device"),
        (("--target", "."), "."),
        (("--target", "disk.img", "--state", "steady"), "--state: applies to a simulated drive"),
        (("--target", "disk.img", "--ensemble", "8"), "--ensemble: does not go with --target"),
        (("--target", "disk.img", "--timeline", "1ms,1ms"), "--timeline: does not go with"),
        (("--destroy", "disk.img"), "add --target DEVICE"),
    ],
)
def test_wrong_words(command: Command, words: tuple[str, ...], said: str) -> None:
    """What is not there, is no target, or has no drive that it is for."""
    code, out, error = command("run", "--rw=read", *words)
    assert (code, out) == (2, "") and said in error, error


@needs_fio
def test_real_beside_simulated(command: Command) -> None:
    """One document of both, which compare and report take."""
    words = ("run", *WRITES, "--iodepth=4", "--target", "disk.img", "--destroy", "disk.img")
    code, out, error = command(*words, "--drive", "theory", "--json")
    assert code == 0, error
    real, simulated = json.loads(out)["jobs"]
    assert real["write"]["total_ios"] == simulated["write"]["total_ios"] == 200
    assert "ssdlab" not in real and "ssdlab" in simulated
    assert Path("disk.img").stat().st_size == SIZE
    again = (*words, "--destroy-content", "disk.img")
    assert command(*again, "--json", "-o", "real.json")[0] == 0
    assert (
        command("run", *WRITES, "--iodepth=4", "--drive", "theory", "--json", "-o", "sim.json")[0]
        == 0
    )
    code, compared, error = command("compare", "real.json", "sim.json")
    assert code == 0 and "sim.json" in compared, error
    assert real["jobname"] == simulated["jobname"]
    for given, clocks in (
        (("real.json", "sim.json"), "in virtual time for simulated drives and in real time"),
        (("real.json",), "in real time;"),
        (("sim.json",), "in virtual time;"),
    ):
        assert command("report", *given, "-o", "page.html")[0] == 0
        assert f"completion latencies, {clocks}" in Path("page.html").read_text()


@needs_fio
def test_it_tells_how_far_fio_is(command: Command) -> None:
    """Before fio begins the simulated rate; then what fio says of the job, and its share."""
    words = ("run", "--rw=randread", "--bs=4k", "--number_ios=100", "--target", "disk.img")
    code, _, error = command(*words, "--drive", "theory", "--json")
    assert code == 0 and "ssdlab: theory, simulated: read " in error
    told: list[tuple[str, float]] = []
    flags = ("--rw=randread", "--bs=4k", "--runtime=600", "--time_based")

    def until_it_tells(phase: str, share: float) -> bool:
        told.append((phase, share))
        return not phase.endswith("IOPS")

    with ExitStack() as held:
        opened = open_target("disk.img", Wishes(), lambda _: None, held, writes=False)
        job = for_target(None, "job", flags, opened.place)
        with pytest.raises(Stopped):
            opened.run(job, lambda _: None, until_it_tells)
    assert told[-1][0].startswith("fio: r=") and 0 <= told[-1][1] < 1


@needs_fio
def test_a_served_drive(command: Command, tmp_path: Path) -> None:
    """Over NBD its own answer is that of the simulated drive, whose figures the server has."""
    if "nbd" not in Fio().engines():
        pytest.skip("this fio has no engine for NBD")
    served = ("serve", "theory", "--set", "capacity_bytes=64MiB", "-o", "served", "--wait-ready")
    assert command(*served)[0] == 0
    try:
        uri = f"nbd+unix:///?socket={tmp_path}/served/nbd.sock"
        words = ("run", *WRITES, "--target", uri)
        assert command(*words)[0] == 2
        code, out, error = command(*words, "--destroy", uri, "--json")
        assert code == 0, error
        assert json.loads(out)["jobs"][0]["write"]["total_ios"] == 200
        counted = json.loads(command("ctl", "served", "stats", "--json")[1])
        assert "819200" in json.dumps(counted), counted
        image = ("run", *WRITES, "--target", "served/data.img", "--destroy", "served/data.img")
        code, out, error = command(*image)
        assert (code, out) == (2, "") and "open for writing in process" in error
    finally:
        os.kill(int(Path("served/pid").read_text()), signal.SIGTERM)


@needs_fio
def test_a_job_that_reads_needs_no_permission(command: Command) -> None:
    """And leaves every byte."""
    before = digest()
    code, out, error = command("run", "--rw=read", "--bs=64k", "--target", "disk.img")
    assert code == 0 and "READ: bw=" in out, error
    assert digest() == before
