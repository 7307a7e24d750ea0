"""``ssdlab trace`` and ``run --trace``: formats, packing, a fit to the drive, bad files, memory."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from ssdlab import engine
from ssdlab.ground.errors import SsdlabError, Stopped

Command = Callable[..., tuple[int, str, str]]
SMALL = ("--drive", "theory", "--set", "capacity_bytes=64MiB")

# The same requests in each format: write 16 KiB at 1 MiB, read 4 KiB at 0 a second later.
MSR = "128166372003061629,hm,1,Write,1048576,16384,1\n128166372013061629,hm,1,Read,0,4096,1\n"
SAME = {
    "MSR Cambridge": MSR,
    "Alibaba": "hm,W,1048576,16384,1577808144360767\nhm,R,0,4096,1577808145360767\n",
    "Tencent CBS": "1538323200,2048,32,1,7\n1538323201,0,8,0,7\n",
    "SYSTOR '17": (
        "Timestamp,Response,IOType,LUN,Offset,Size\n"
        "1456135200.013118000,0.0008,W,4,1048576,16384\n1456135201.013118000,,R,4,0,4096\n"
    ),
    "fio iolog, version 3": (
        "fio version 3 iolog\n0 d add\n0 d open\n"
        "5 d write 1048576 16384\n1000005 d read 0 4096\n1000006 d close\n"
    ),
    "blkparse text": (
        "8,0 1 1 0.000000000 9 Q W 2048 + 32 [a]\n8,0 1 2 1.000000000 9 Q R 0 + 8 [a]\n"
    ),
}


def zstandard(text: bytes) -> bytes:
    if shutil.which("zstd") is None:
        pytest.skip("zstd is not there: scripts/install-tools.sh")
    done = subprocess.run(["zstd", "-q", "-c"], input=text, check=True, capture_output=True)
    return done.stdout


@pytest.mark.parametrize("name", SAME)
def test_formats_tell_the_same(tmp_path: Path, name: str) -> None:
    """Each format's columns and units give the same requests."""
    path = tmp_path / "t"
    path.write_text(SAME[name])
    survey = engine.survey_trace(str(path))
    assert survey["format"] == name
    assert survey["reads"] == {"requests": 1, "bytes": 4096}
    assert survey["writes"] == {"requests": 1, "bytes": 16384}
    assert (survey["end_bytes"], survey["duration_ns"]) == (1048576 + 16384, 10**9)


@pytest.mark.parametrize(("packer", "pack"), [("gzip", gzip.compress), ("zstd", zstandard)])
def test_packed_is_as_plain(
    tmp_path: Path, command: Command, packer: str, pack: Callable[[bytes], bytes]
) -> None:
    """What a packer of the system wrote is read, and runs as the text does."""
    (tmp_path / "plain").write_text(MSR)
    (tmp_path / "packed").write_bytes(pack(MSR.encode()))
    results = []
    for name in ("plain", "packed"):
        survey = engine.survey_trace(str(tmp_path / name))
        assert survey.pop("packed_with") == (None if name == "plain" else packer)
        code, out, err = command(
            "run", "--trace", str(tmp_path / name), *SMALL, "--output-format", "json"
        )
        assert code == 0, err
        results.append((survey, json.loads(out)["jobs"][0]["ssdlab"]["counters"]))
    assert results[0] == results[1]


def test_a_trace_is_shown(tmp_path: Path, command: Command) -> None:
    """The table has a row for each kind of request, the sentence what a drive must have."""
    path = tmp_path / "monday.csv"
    path.write_text(MSR)
    code, out, _ = command("trace", str(path))
    assert code == 0
    assert "monday.csv: MSR Cambridge; device hm,1\n" in out
    assert "writes         1  50.0 %  16.4 kB      16.4 kB" in out
    assert "It lasts 1 s and ends at 1.06 MB" in " ".join(out.split("\n"))


def test_one_device_of_several(tmp_path: Path, command: Command) -> None:
    """Two disks are refused by name until one of them is asked for."""
    path = tmp_path / "two.csv"
    path.write_text(MSR + MSR.replace(",hm,1,", ",hm,2,"))
    code, _, err = command("trace", str(path))
    assert code == 2
    assert "two.csv, line 3: hm,2 is a second device in the trace, after hm,1" in err
    assert "replay_device=NAME" in err
    assert engine.survey_trace(str(path), "hm,2")["requests"] == 2
    code, _, err = command("run", "--trace", str(path), "--replay_device=hm,1", *SMALL)
    assert code == 0, err
    with pytest.raises(SsdlabError, match="holds no request of hm,3; it tells of hm,1, hm,2"):
        engine.survey_trace(str(path), "hm,3")


SYSTOR = (Path(__file__).parent / "traces" / "systor17.csv").read_text(encoding="utf-8")


def test_what_is_left_out_is_told(tmp_path: Path, command: Command) -> None:
    """A request without a kind is counted, by the verb and by the run; another kind is refused."""
    path = tmp_path / "2016022219-LUN4.csv"
    path.write_text(SYSTOR)
    survey = engine.survey_trace(str(path))
    assert (survey["format"], survey["device"], survey["requests"]) == ("SYSTOR '17", "4", 4)
    assert survey["end_bytes"] == 899056122368 + 131072
    left_out = "1 request is left out, the first in line 5: its IOType is blank"
    code, out, _ = command("trace", str(path))
    assert code == 0 and left_out in " ".join(out.split())
    code, out, err = command(
        "run", "--trace", str(path), "--replay_scale=fit", *SMALL, "--output-format", "json"
    )
    assert code == 0, err
    job = json.loads(out)["jobs"][0]
    assert any(left_out in notice for notice in job["ssdlab"]["notices"])
    assert (job["read"]["total_ios"], job["write"]["total_ios"]) == (1, 3)
    path.write_text(SYSTOR.replace(",,4,", ",U,4,"))
    code, _, err = command("run", "--trace", str(path), "--replay_scale=fit", *SMALL)
    assert code == 2 and "line 5: 'U' is neither R nor W" in err
    path.write_text(SYSTOR + "1456135204.0,0.001,W,6,0,4096\n")
    code, _, err = command("trace", str(path))
    assert code == 2 and "line 7: 6 is a second device in the trace, after 4" in err


def test_a_trace_is_fitted_to_the_drive(tmp_path: Path, command: Command) -> None:
    """Too far for the drive: refused with the request, or scaled on request, and said so."""
    path = tmp_path / "far.csv"
    path.write_text(MSR.replace("1048576", "1048576000"))
    code, _, err = command("run", "--trace", str(path), *SMALL)
    assert code == 2
    assert "request 1: offset 1048576000, length 16384: beyond the drive's 67108864 bytes" in err
    assert "replay_scale=fit" in err
    code, out, err = command(
        "run", "--trace", str(path), "--replay_scale=fit", *SMALL, "--output-format", "json"
    )
    assert code == 0, err
    assert "offsets are scaled by 0.0640 so that the trace's 1.0 GB fit the drive's 0.1 GB" in err
    assert json.loads(out)["jobs"][0]["write"]["io_bytes"] == 16384


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "the file is empty"),
        (b"\xfd7zXZ\0", "packed with xz, which is not read"),
        (gzip.compress(MSR.encode() * 100)[:-9], "deflate stream"),
        (b"5,3", "not a trace of a known format"),
        (b"block_id io_offset io_size\n", "tells of blocks by name"),
        (b"1,W,0,4096,1\n1,W,0,4096\n", "line 2: 4 fields instead of 5"),
        (b"1,W,0,4096,1\n1,W,18446744073709551616,4096,1\n", "is no offset"),
        (b"1,W,18446744073709551615,4096,1\n", "beyond the drive"),
        (b"".join(b"1,W,0,4096,%d\n" % at for at in [*range(2, 70_000), 1]), "sort the trace"),
    ],
)
def test_bad_traces(tmp_path: Path, command: Command, content: bytes, expected: str) -> None:
    """Each is one error with its remedy, and nothing runs."""
    path = tmp_path / "t"
    path.write_bytes(content)
    code, out, err = command("run", "--trace", str(path), *SMALL)
    assert (code, out) == (2, "")
    assert expected in err
    assert "Traceback" not in err


def test_a_stop_is_heard_while_nothing_is_taken(tmp_path: Path) -> None:
    """Lines of another device are passed over; who asks to stop meanwhile is heard."""
    path = tmp_path / "other.csv"
    path.write_text(MSR * 1000)
    with pytest.raises(SsdlabError, match="holds no request of hm,2"):
        engine.survey_trace(str(path), "hm,2", lambda phase, share: True)
    with pytest.raises(Stopped):
        engine.survey_trace(str(path), "hm,2", lambda phase, share: False)


def test_a_pipe_is_a_trace(tmp_path: Path) -> None:
    """What can be read once alone is held, and replayed."""
    shown = subprocess.run(
        [sys.executable, "-m", "ssdlab", "trace", "/dev/stdin", "--output-format", "json"],
        input=gzip.compress(MSR.encode()),
        capture_output=True,
        check=True,
    )
    assert json.loads(shown.stdout)["requests"] == 2


def test_memory_does_not_grow_with_the_trace(tmp_path: Path) -> None:
    """A hundred megabytes of text take no more memory than the command itself does."""
    lines = b"".join(b"128166372003061629,hm,1,Write,%d,4096,7\n" % (n << 12) for n in range(2000))
    peaks = []
    for count in (1, 1000):
        path = tmp_path / f"{count}.gz"
        path.write_bytes(gzip.compress(lines) * count)
        run = [
            sys.executable,
            "-m",
            "ssdlab",
            "run",
            "--trace",
            str(path),
            *SMALL,
            "-o",
            str(tmp_path / "out"),
        ]
        child = subprocess.Popen(run)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        assert child.returncode == 0
        peaks.append(usage.ru_maxrss >> 10)
    assert peaks[1] - peaks[0] < 32, peaks
