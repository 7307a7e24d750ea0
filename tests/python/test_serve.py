"""``ssdlab serve``: folders, processes, and clients of other programs."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ssdlab.live.client import Client

pytestmark = pytest.mark.end_to_end

DRIVE = "intel-dc-s3500-80gb"
SMALL = ("--set", "capacity_bytes=1GB")
needs_qemu_io = pytest.mark.skipif(shutil.which("qemu-io") is None, reason="qemu-io is not here")


def ssdlab(*words: str, **how: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "ssdlab", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **how)


def process_of(folder: Path) -> int:
    return int((folder / "pid").read_text())


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def end(folder: Path, number: int = signal.SIGTERM) -> None:
    """End the server of a folder, and wait until it is gone."""
    process = process_of(folder)
    os.kill(process, number)
    while is_alive(process):
        time.sleep(0.01)


def start(*words: str) -> dict[str, Any]:
    """Serve in the background; what it told."""
    done = ssdlab("serve", *words, "--wait-ready", "--json")
    assert done.returncode == 0, done.stderr
    told: dict[str, Any] = json.loads(done.stdout)
    return told


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """Where a drive may be served; whoever serves it at the end is ended."""
    place = tmp_path / "drive"
    yield place
    if (place / "pid").exists() and is_alive(process_of(place)):
        end(place, signal.SIGKILL)


def qemu_io(folder: Path, *commands: str) -> str:
    uri = f"nbd+unix:///?socket={folder / 'nbd.sock'}"
    given = [word for command in commands for word in ("-c", command)]
    done = subprocess.run(
        ["qemu-io", "-f", "raw", *given, uri], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def stats(folder: Path) -> dict[str, Any]:
    client = Client(str(folder))
    try:
        return client.get("/stats")
    finally:
        client.close()


@needs_qemu_io
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT], ids=["TERM", "INT"])
def test_a_drive_is_put_away_and_goes_on(folder: Path, number: int) -> None:
    """Bytes, wear and counters are there again; SIGINT counts in the background, too."""
    told = start(DRIVE, *SMALL, "-o", str(folder))
    assert told["addresses"] == [f"nbd+unix:///?socket={folder / 'nbd.sock'}"]
    assert told["pid"] == process_of(folder)
    qemu_io(folder, "write -P 7 1M 64k", "discard 1M 4k")
    assert stats(folder)["requests"]["bytes_written"] == 65536
    end(folder, number)
    assert sorted(each.name for each in folder.iterdir()) == [
        *("data.img", "drive.ssd", "lock", "serve.log", "since"),
    ]
    assert b"put-away" in (folder / "since").read_bytes()
    with (folder / "data.img").open("rb") as image:
        image.seek(1 << 20)
        written = image.read(65536)
    assert written == bytes(4096) + b"\7" * 61440, "the image is a plain disk"
    start(str(folder))
    qemu_io(folder, "read -P 0 1M 4k", "read -P 7 1028k 60k")
    found = stats(folder)
    assert found["counters"]["unsafe_shutdowns"] == 0
    assert found["counters"]["host_bytes_written"] == 0, "counted since it was opened"
    shown = json.loads(ssdlab("show", str(folder), "--json").stdout)
    assert shown["counters"]["host_bytes_written"] == 65536


@needs_qemu_io
def test_a_killed_server_loses_nothing_that_was_flushed(folder: Path) -> None:
    """SIGKILL is a power cut by sector: what was flushed is there, and the drive knows of it."""
    start(DRIVE, *SMALL, "-o", str(folder))
    qemu_io(folder, "write -P 3 0 1M", "flush")
    end(folder, signal.SIGKILL)
    refused = ssdlab("ctl", str(folder), "stats")
    assert refused.returncode == 2
    assert "has ended without a word" in refused.stderr
    start(str(folder))
    qemu_io(folder, "read -P 3 0 1M")
    end(folder)
    shown = json.loads(ssdlab("show", str(folder), "--json").stdout)
    assert shown["counters"]["unsafe_shutdowns"] == 1
    assert shown["counters"]["host_bytes_written"] == 1 << 20, "counters never go back"


@needs_qemu_io
def test_power_snapshots_and_media_errors(folder: Path) -> None:
    """All that `ctl` steers, on a real server."""
    start(DRIVE, *SMALL, "-o", str(folder))

    def ctl(*words: str) -> dict[str, Any]:
        done = ssdlab("ctl", str(folder), *words, "--json")
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)["folders"][0]
        return answer

    qemu_io(folder, "write -P 1 0 64k", "flush")
    ctl("snapshot", "one")
    qemu_io(folder, "write -P 2 0 64k", "flush")
    assert ctl("power-cut", "--seed", "5")["seed"] == 5
    assert ctl("stats")["power"] == "off"
    with pytest.raises(AssertionError):
        qemu_io(folder, "read 0 512")
    ctl("power-on")
    qemu_io(folder, "read -P 2 0 64k")
    ctl("inject", "media-error", "8192")
    with pytest.raises(AssertionError, match="read failed"):
        qemu_io(folder, "read 8192 512")
    assert (folder / "bad-sectors").read_text() == "16-16\nend\n"
    qemu_io(folder, "write -P 2 8192 512", "read -P 2 0 64k")
    ctl("restore", "one")
    qemu_io(folder, "read -P 1 0 64k")
    assert ctl("erase", "secure-erase")["took_ns"] > 0
    qemu_io(folder, "read -P 0 0 64k")
    assert ctl("stats")["condition"] == "fresh"


def test_a_folder_is_served_once(folder: Path) -> None:
    """Who comes second is told who has it."""
    told = start("theory", "--set", "capacity_bytes=64MiB", "-o", str(folder))
    second = ssdlab("serve", str(folder))
    assert second.returncode == 2
    assert f"another process ({told['pid']}) has the drive open" in second.stderr
    again = ssdlab("serve", "theory", "-o", str(folder))
    assert again.returncode == 2
    assert "already exists and is not an empty folder" in again.stderr


def test_a_raw_image_becomes_a_drive(folder: Path, tmp_path: Path) -> None:
    """Its bytes are the drive's; another length is refused, with both."""
    image = tmp_path / "image.raw"
    image.write_bytes(b"\5" * (1 << 20) + bytes(63 << 20))
    made = ("theory", "--set", "capacity_bytes=64MiB", "--data", str(image), "-o", str(folder))
    start(*made)
    end(folder)
    assert (folder / "data.img").read_bytes() == image.read_bytes()
    image.write_bytes(b"\5")
    refused = ssdlab("serve", *made[:-1], str(tmp_path / "other"))
    assert refused.returncode == 2
    assert "image.raw: has 1 bytes; the drive has 67108864" in refused.stderr
    assert not (tmp_path / "other").exists()


def test_a_run_goes_on_from_a_copy(folder: Path) -> None:
    """`run`, `show` and `report` take a folder, and leave it as it is."""
    small = ("--set", "capacity_bytes=64MiB", "--set", "nand.pages_per_block=16")
    start("theory", *small, "--state", "steady", "-o", str(folder))
    end(folder)
    before = {each.name: each.read_bytes() for each in folder.iterdir()}
    done = ssdlab("run", "--drive", str(folder), "--rw=randwrite", "--bs=4k", "--number_ios=2000")
    assert done.returncode == 0, done.stderr
    assert "steady" in ssdlab("show", str(folder)).stdout
    page = folder.parent / "drive.html"
    done = ssdlab("report", str(folder), "-o", str(page))
    assert done.returncode == 0, done.stderr
    # Of the theory drive preconditioning alone has written.
    assert "SMART overall-health" in page.read_text()
    assert "host bytes written" in page.read_text()
    beside = ssdlab("report", str(folder), str(page), "-o", str(page))
    assert beside.returncode == 2
    assert "name one drive alone" in beside.stderr
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["theory"], "say where its bytes go: ssdlab serve theory -o FOLDER"),
        (["theory", "-o", "x", "--pace", "fast"], "--pace fast: is no pace"),
        (["theory", "-o", "x", "--pace", "nan"], "--pace nan: is no pace"),
        (["no-such-drive", "-o", "x"], "there is no drive no-such-drive"),
        (["hitachi-deskstar-7k1000c-1tb", "-o", "x"], "a hard disk has no condition to keep"),
        (["."], "is not a drive's folder"),
        (["theory", "-o", "/proc/x"], "cannot be made"),
    ],
)
def test_wrong_input_is_told(words: list[str], told: str, tmp_path: Path) -> None:
    """What is wrong, and what to do; nothing is left behind."""
    done = (
        ssdlab("serve", *words, "--set", "capacity_bytes=64MiB", cwd=tmp_path)
        if (words[0] == "theory")
        else ssdlab("serve", *words, cwd=tmp_path)
    )
    assert done.returncode == 2, done.stderr
    assert told in done.stderr
    assert not list(tmp_path.iterdir())


def test_others_are_not_let_in(folder: Path) -> None:
    """An address that other machines reach takes so many words."""
    made = ("theory", "--set", "capacity_bytes=64MiB", "-o", str(folder))
    for option in ("--nbd", "--nvme-tcp"):
        refused = ssdlab("serve", *made, option, "0.0.0.0:0")
        assert refused.returncode == 2
        assert f"{option} 0.0.0.0:0: can be reached from other machines" in refused.stderr
        refused = ssdlab("serve", *made, option, "4420")
        assert f"{option} 4420: is no address" in refused.stderr
        assert not folder.exists(), "addresses are read before a drive is made"
    told = start(*made, "--nbd", "localhost:0", "--nvme-tcp", "127.0.0.1:0")
    assert told["addresses"][0].startswith("nbd://127.0.0.1:")
    assert told["addresses"][1].startswith("nvme+tcp://127.0.0.1:")


@needs_qemu_io
def test_requests_are_held_back(folder: Path) -> None:
    """A latency shows in what a client waits; a hang ends when it is told to, or with the power."""
    start("theory", "--set", "capacity_bytes=64MiB", "-o", str(folder))

    def inject(*words: str) -> None:
        done = ssdlab("ctl", str(folder), "inject", *words)
        assert done.returncode == 0, done.stderr

    inject("latency", "300ms", "--count", "1")
    slow, _ = re.findall(r"1 ops; ([\d.]+) sec", qemu_io(folder, "read 0 4k", "read 0 4k"))
    assert float(slow) >= 0.3
    assert stats(folder)["injected"] == {"latency_ns": 300_000_000, "left": 0, "hangs": False}
    uri = f"nbd+unix:///?socket={folder / 'nbd.sock'}"
    for release, code in (("inject", 0), ("power-cut", 1)):
        inject("hang")
        words = ["qemu-io", "-f", "raw", "-c", "read 0 4k", uri]
        waits = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with pytest.raises(subprocess.TimeoutExpired):
            waits.wait(0.5)
        words = [release, "nothing"] if release == "inject" else [release]
        assert ssdlab("ctl", str(folder), *words).returncode == 0
        assert waits.wait(60) == code
    assert ssdlab("ctl", str(folder), "power-on").returncode == 0
    inject("hang")
    end(folder)


def test_a_drive_ages_and_keeps_that(folder: Path) -> None:
    """Each block has so many erases more, also once it was put away; a log has it, too."""
    log = folder.parent / "log"
    start("theory", "--set", "capacity_bytes=64MiB", "-o", str(folder), "--log", str(log))
    before = stats(folder)["wear"]["least"]
    assert ssdlab("ctl", str(folder), "age", "2500").returncode == 0
    assert stats(folder)["wear"]["least"] == before + 2500
    end(folder)
    assert "\nage cycles=2500\n" in (log / "commands.log").read_text()
    assert ssdlab("check", str(log)).returncode == 0
    shown = json.loads(ssdlab("show", str(folder), "--json").stdout)
    assert shown["wear"]["erase_counts"]["min"] == before + 2500


def test_a_drive_is_steady_under_a_job(folder: Path) -> None:
    """As `run` and `season` make it; without the state the job would do nothing."""
    (folder.parent / "a.fio").write_text("[a]\nrw=randwrite\nbs=16k\nnorandommap\n")
    words = ("theory", "--set", "capacity_bytes=1GiB", "--job", "a.fio", "-o", "drive")
    refused = ssdlab("serve", *words, cwd=folder.parent)
    assert (refused.returncode, "add --state steady:job" in refused.stderr) == (2, True)
    made = ssdlab("serve", *words, "--state", "steady:job", "--wait-ready", cwd=folder.parent)
    assert made.returncode == 0, made.stderr
    assert stats(folder)["condition"] == "steady:job"


def test_health_and_show_read_a_folder(folder: Path) -> None:
    """A drive worn to its rating is CRITICAL; while it is served, health is as it is now."""
    start("intel-dc-s3500-80gb", "--set", "capacity_bytes=1GB", "-o", str(folder))
    sound = ssdlab("health", str(folder))
    assert (sound.returncode, sound.stderr) == (0, ""), sound.stdout
    assert "is being served" in ssdlab("show", str(folder)).stderr
    assert ssdlab("ctl", str(folder), "age", "3100").returncode == 0
    assert ssdlab("health", str(folder)).returncode == 3, "as it is now"
    end(folder)
    worn = ssdlab("health", str(folder), "--json")
    assert (worn.returncode, worn.stderr) == (3, ""), worn.stdout
    assert "is being served" not in ssdlab("show", str(folder)).stderr
    nothing = ssdlab("health", str(folder.parent))
    assert (nothing.returncode, "UNKNOWN" in nothing.stdout) == (4, True)
