"""fio's own example jobs, from Debian's package `fio-examples`: plain block I/O runs here.

The files are read where the package puts them; none is copied. Where it is not installed
(`scripts/install-tools.sh` does it) the tests are skipped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]

FOLDER = Path("/usr/share/doc/fio/examples")
INSTALLED = sorted(path.name for path in FOLDER.glob("*.fio"))
needs_examples = pytest.mark.skipif(
    not INSTALLED, reason=f"{FOLDER} is not there: apt-get install fio-examples"
)

# A few requests of each job are enough to see that it runs.
SHORT = ("--number_ios=48", "--no-layout")
VARIABLES = {"FIO_RW": "randwrite", "FIO_IODEPTH": "4", "FIO_BS": "8k", "unixsocket": "/tmp/nbd"}

# Jobs with plain block I/O that run, with what makes them fit a drive of 16 GB.
RUN: dict[str, tuple[str, ...]] = {
    "1mbs_clients.fio": (),
    "aio-read.fio": (),
    "backwards-read.fio": (),
    "basic-verify.fio": (),
    "butterfly.fio": (),
    "cmdprio-bssplit.fio": (),
    "cmdprio-percentage.fio": (),
    "cross-stripe-verify.fio": ("--offset_increment=400m", "--io_size=1m"),
    "dedupe-global.fio": (),
    "disk-zone-profile.fio": (),
    "enospc-pressure.fio": ("--filesize=1g", "--size=2g"),
    "exitwhat.fio": (),
    "fio-rand-RW.fio": (),
    "fio-rand-read.fio": (),
    "fio-rand-write.fio": (),
    "fio-seq-RW.fio": (),
    "fio-seq-read.fio": (),
    "fio-seq-write.fio": (),
    "fixed-rate-submission.fio": (),
    "flow.fio": ("--size=10g",),
    "fsx.fio": (),
    "iometer-file-access-server.fio": (),
    "jesd219.fio": (),
    "latency-profile.fio": (),
    "nbd.fio": (),
    "null.fio": ("--size=10g",),
    "numa.fio": (),
    "poisson-rate-submission.fio": (),
    "rand-zones.fio": (),
    "sg_verify-fail.fio": (),
    "sg_verify.fio": (),
    "sg_write_same_ndob.fio": (),
    "ssd-steadystate.fio": (),
    "ssd-test.fio": (),
    "steadystate.fio": (),
    "surface-scan.fio": (),
    "tiobench-example.fio": (),
    "uring-cmd-ng.fio": (),
    "uring-cmd-zoned.fio": (),
    "waitfor.fio": (),
    # Its few requests would all fall into the ramp.
    "xnvme-compare.fio": ("--ramp_time=0", "--filename=/dev/ssd"),
    "xnvme-zoned.fio": ("--ramp_time=0",),
    "zbd-rand-write.fio": (),
    "zbd-seq-read.fio": ("--offset=1g",),
    "zipf.fio": (),
}

_NOT_RUN = {
    "its engine needs zoned disks behind libzbc": "libzbc-rand-write libzbc-seq-read",
    "its engine is built from fio's own sources": "cpp_null",
    "its engine works on processors": "cpuio exec",
    "its engine works on a file system": (
        "e4defrag e4defrag2 falloc filecreate-ioengine filedelete-ioengine filestat-ioengine"
        " ftruncate"
    ),
    "its engine works on a network or on storage behind one": (
        "dfs gfapi gpudirect-rdmaio-client gpudirect-rdmaio-server http-s3 http-s3-crypto"
        " http-s3-storage-class http-swift http-webdav ime libhdfs libiscsi netio netio_multicast"
        " nfs rados rbd rdmaio-client rdmaio-server librpma_apm-client librpma_apm-server"
        " librpma_gpspm-client librpma_gpspm-server"
    ),
    "its engine works on memory": "dev-dax libpmem pmemblk libcufile-cufile libcufile-posix",
    "its engine works on raw flash": "mtd",
}
# Jobs that do not run, with the reason.
NOT_RUN = {f"{name}.fio": why for why, names in _NOT_RUN.items() for name in names.split()}


@needs_examples
def test_every_example_is_accounted_for() -> None:
    """Each example of fio 3.33 runs or has its reason; at least forty run."""
    assert not RUN.keys() & NOT_RUN.keys()
    if "cmdprio-bssplit.fio" in INSTALLED and "ime.fio" in INSTALLED and len(INSTALLED) == 86:
        assert sorted([*RUN, *NOT_RUN]) == INSTALLED
    assert len(RUN.keys() & set(INSTALLED)) >= 40


@needs_examples
@pytest.mark.parametrize("name", [name for name in RUN if name in INSTALLED])
def test_example_runs(name: str, command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    """The example runs as it stands, every job of it is in the result, and does what it names."""
    for variable, value in VARIABLES.items():
        monkeypatch.setenv(variable, value)
    path = FOLDER / name
    drive = ("--drive", "theory", "--set", "capacity_bytes=16GB")
    code, out, err = command("run", str(path), *drive, *SHORT, *RUN[name], "--output-format=json")
    assert code == 0, err
    jobs = json.loads(out)["jobs"]
    named = set(re.findall(r"^\[(.+)\]", path.read_text(), re.MULTILINE)) - {"global"}
    assert {job["jobname"] for job in jobs} <= named | {name.removesuffix(".fio"), "fio-seq-reads"}
    assert sum(job[side]["total_ios"] for job in jobs for side in ("read", "write", "trim")) > 0
    assert all(job["error"] == 0 for job in jobs)


@needs_examples
@pytest.mark.parametrize("name", [name for name in NOT_RUN if name in INSTALLED])
def test_example_is_refused(name: str, command: Command) -> None:
    """An example that does not run is refused with the place in its file."""
    drive = ("--drive", "theory", "--set", "capacity_bytes=1GiB")
    code, out, err = command("run", str(FOLDER / name), *drive)
    assert (code, out) == (2, "")
    assert f"{FOLDER / name}, line " in err
