"""The served drive beside `nbdkit memory`: requests a second of fio's NBD engine, in turn.

Random 4 KiB requests, 32 outstanding over one connection and over four, to a drive of 4 GB whose
image lies in memory, as fast as they are computed. Each figure is the median of seven ratios, each
of two runs that follow each other; the lowest and the highest stand behind it. Writes go to a drive
that was erased right before, reads to one that is filled, steady writes to one in steady state.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PAIRS = int(os.environ.get("PAIRS", "7"))
SECONDS = 2
DEPTH = 32
SIZE = "1000m"
DRIVE = ("intel-dc-s3500-80gb", "--set", "capacity_bytes=4GB")
SSDLAB = Path(sys.executable).parent / "ssdlab"


def main() -> int:
    """Print the table."""
    lacks = [tool for tool in ("fio", "nbdkit") if shutil.which(tool) is None]
    if lacks:
        print(f"the served drive is not measured: {', '.join(lacks)} is not installed;", end=" ")
        print("scripts/install-tools.sh installs it")
        return 0
    print(
        f"\n4 KiB requests a second, {DEPTH} outstanding, served beside nbdkit memory (by ratio):"
    )
    print("                            ratio  lowest highest   served   nbdkit  µs of processor")
    with tempfile.TemporaryDirectory(prefix="ssdlab-", dir="/dev/shm") as folder:
        beside = _nbdkit(Path(folder))
        try:
            for state in ("fresh", "steady"):
                _measure(Path(folder, state), state, beside)
        finally:
            os.kill(int(Path(folder, "nbdkit.pid").read_text()), signal.SIGTERM)
    return 0


def _nbdkit(folder: Path) -> str:
    socket, pid = folder / "nbdkit.sock", folder / "nbdkit.pid"
    subprocess.run(["nbdkit", "-U", str(socket), "-P", str(pid), "memory", "4G"], check=True)
    uri = f"nbd+unix:///?socket={socket}"
    _fio(uri, "write", 1, "--bs=1m", fill=True)
    return uri


def _measure(folder: Path, state: str, beside: str) -> None:
    words = [*DRIVE, "--state", state, "-o", str(folder), "--wait-ready", "--json"]
    told = json.loads(_ssdlab("serve", *words))
    server, (uri, *_) = int(told["pid"]), told["addresses"]
    try:
        if state == "steady":
            _row("steady writes", uri, beside, "randwrite", server, folder, erase=False)
            return
        _row("writes", uri, beside, "randwrite", server, folder, erase=True)
        _fio(uri, "write", 1, "--bs=1m", fill=True)
        _row("reads", uri, beside, "randread", server, folder, erase=False)
    finally:
        os.kill(server, signal.SIGTERM)
        while Path(folder, "pid").exists():
            time.sleep(0.05)


def _row(
    name: str, uri: str, beside: str, pattern: str, server: int, folder: Path, *, erase: bool
) -> None:
    for connections in (1, 4):
        pairs, seconds, requests = [], 0.0, 0.0
        for _ in range(PAIRS):
            if erase:
                _ssdlab("ctl", str(folder), "erase", "secure-erase")
            before = _processor_s(server)
            served = _fio(uri, pattern, connections)
            seconds += _processor_s(server) - before
            requests += served * SECONDS
            pairs.append((served, _fio(beside, pattern, connections)))
        ratios = sorted(one / other for one, other in pairs)
        rates = [statistics.median(each) for each in zip(*pairs, strict=True)]
        label = f"{name}, {connections} connection{'s' * (connections > 1)}"
        print(
            f"{label:27} {statistics.median(ratios):6.2f}  {ratios[0]:6.2f}  {ratios[-1]:6.2f}"
            f" {rates[0]:8,.0f} {rates[1]:8,.0f}  {seconds / requests * 1e6:15.1f}",
            flush=True,
        )


def _fio(uri: str, pattern: str, connections: int, *more: str, fill: bool = False) -> float:
    """Return the requests a second of all connections."""
    words = [f"--rw={pattern}", "--name=a", "--ioengine=nbd", f"--uri={uri}", f"--size={SIZE}"]
    words += ["--iodepth=4"] if fill else [f"--iodepth={DEPTH // connections}", "--bs=4k"]
    words += [] if fill else ["--time_based", f"--runtime={SECONDS}", f"--numjobs={connections}"]
    words += ["--norandommap", "--randrepeat=0", "--group_reporting", *more]
    with tempfile.NamedTemporaryFile("r", suffix=".json") as result:
        words += ["--output-format=json", f"--output={result.name}"]
        subprocess.run(["fio", *words], check=True, stdout=subprocess.DEVNULL)
        (job,) = json.load(result)["jobs"]
    return float(job["read"]["iops"] + job["write"]["iops"])


def _processor_s(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _ssdlab(*words: str) -> str:
    done = subprocess.run([str(SSDLAB), *words], check=True, capture_output=True, text=True)
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
