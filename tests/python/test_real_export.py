"""NBD exports of nbdkit, whose delay and rate are known, as targets of the performance test."""

from __future__ import annotations

import socket
import struct
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from loop_devices import MIB, digest, need, run
from process import wait_for
from ssdlab.bench.measurement import StepMeasurement
from ssdlab.bench.plan import Step, Workload
from ssdlab.bench.real.export import ExportTarget, permit_uri
from ssdlab.bench.real.fio_program import Fio
from ssdlab.bench.real.nbd import ExportClient
from ssdlab.bench.real.opening import look, open_real
from ssdlab.bench.real.safety import Refused
from ssdlab.bench.real.wishes import Wishes, is_uri
from ssdlab.ground.errors import SsdlabError

pytestmark = pytest.mark.end_to_end

SIZE = 32 * MIB


def _listens(family: socket.AddressFamily, address: str | tuple[str, int]) -> bool:
    """Whether somebody listens there; the file of a socket comes before that."""
    with socket.socket(family) as tried:
        return tried.connect_ex(address) == 0


@contextmanager
def _served(folder: Path, *words: str) -> Iterator[str]:
    """Serve something by nbdkit on a socket of its own; gives the URI."""
    need("nbdkit", "fio", "wipefs")
    place = folder / "s"
    server = subprocess.Popen(
        ["nbdkit", "--foreground", "--exit-with-parent", f"--unix={place}", *words]
    )
    try:
        wait_for(lambda: _listens(socket.AF_UNIX, str(place)), "nbdkit's socket")
        yield f"nbd+unix:///?socket={place}"
    finally:
        server.terminate()
        server.wait()


def _go_on(_what: str, _share: float) -> bool:
    return True


def _performed(uri: str, step: Step) -> StepMeasurement:
    client = ExportClient(uri)
    target = ExportTarget(client, permit_uri(client, [uri]))
    try:
        return target.perform(step, _go_on)
    finally:
        target.release()


def _measured(uri: str, load: Workload, seconds: float = 2.0) -> StepMeasurement:
    return _performed(uri, Step("step", load, 3, seconds=seconds))


def test_a_delay_is_measured_as_it_is(tmp_path: Path) -> None:
    """5 ms a read and 10 ms a write, one at a time: latency, rate, and the mix of both."""
    delay = ("memory", f"{SIZE}", "--filter=delay", "rdelay=5ms", "wdelay=10ms")
    with _served(tmp_path, *delay) as uri:
        for reads in (100, 0, 65):
            found = _measured(uri, Workload("random", reads, 4096, 1, 1))
            for direction, least_ns in ((found.read, 5e6), (found.write, 10e6)):
                if direction.requests:
                    # The server waits so long at least; a busy machine adds to it.
                    assert direction.min_ns is not None and direction.min_ns >= least_ns
            both = found.both
            waited_ns = 5e6 * found.read.requests + 10e6 * found.write.requests
            assert both.mean_ns is not None and both.mean_ns >= waited_ns / both.requests
            # Little's law: one request at a time cannot wait longer than the step lasts.
            assert both.mean_ns * both.requests <= 1.01 * found.seconds * 1e9
            assert both.iops == pytest.approx(both.requests / found.seconds)


def test_a_mix_of_delays_has_both_peaks(tmp_path: Path) -> None:
    """The median is no more than a write's, the 90th percentile is one: no average of the two."""
    delay = ("memory", f"{SIZE}", "--filter=delay", "rdelay=5ms", "wdelay=20ms")
    with _served(tmp_path, *delay) as uri:
        found = _measured(uri, Workload("random", 65, 4096, 1, 1), 4.0)
    assert 5e6 <= found.both.percentiles_ns["50"] <= found.write.percentiles_ns["50"]
    assert found.both.percentiles_ns["90"] >= 20e6


def _most_at_once(log: Path) -> int:
    """Count the requests that a server had at once; its log has a line as each comes and goes."""
    now, most = 0, 0
    for line in log.read_text().splitlines():
        now += " Read id=" in line
        now -= " ...Read id=" in line
        most = max(most, now)
    return most


@pytest.mark.parametrize(("threads", "depth"), [(1, 1), (1, 8), (2, 4)])
def test_requests_overlap_by_threads_and_depth(tmp_path: Path, threads: int, depth: int) -> None:
    """Each thread keeps so many outstanding, and never more: the server's log shows it."""
    log = tmp_path / "log"
    slow = ("--filter=log", "--filter=delay", f"logfile={log}", "rdelay=50ms")
    with _served(tmp_path, "memory", f"{SIZE}", *slow) as uri:
        _measured(uri, Workload("random", 100, 4096, threads, depth))
    assert _most_at_once(log) == threads * depth


def test_a_rate_is_measured_as_it_is(tmp_path: Path) -> None:
    """80 Mbit/s are 10 MB/s, in decimal units; two seconds' worth passes at once at first."""
    step = Step("fill", Workload("sequential", 0, 64 << 10, 1, 4), 3, passes=2.0)
    with _served(tmp_path, "memory", f"{SIZE}", "--filter=rate", "rate=80000000") as uri:
        found = _performed(uri, step)
    assert found.seconds >= (2 * SIZE - 2 * 10e6) / 10e6 * 0.99
    assert found.write.mb_per_s == pytest.approx(2 * SIZE / 1e6 / found.seconds)


def test_purge_and_fill(tmp_path: Path) -> None:
    """Trim is proved by zeroes where data were; a fill by two threads leaves no byte unwritten."""
    file = tmp_path / "drive.img"
    with file.open("wb") as opened:
        opened.truncate(SIZE)
    with _served(tmp_path, "file", str(file)) as uri:
        target = open_real(uri, Wishes(destroy=[uri]), lambda _lines: None)
        fill = Step("fill", Workload("sequential", 0, 128 << 10, 2, 4), 5, passes=2.0)
        assert target.perform(fill, _go_on).write.total_bytes == 2 * SIZE
        content = file.read_bytes()
        assert bytes(1024) not in [content[at : at + 1024] for at in range(0, SIZE, 1024)]
        purged = target.purge()
        assert purged.proved, purged
        assert file.read_bytes() == bytes(SIZE)
        told = target.describe()
        assert (told.kind, told.capacity_bytes) == ("nbd", SIZE)
        assert target.counters() is None
        target.release()


def test_a_server_without_trim_is_not_purged(tmp_path: Path) -> None:
    """Nothing is asked, and what was written is still there."""
    file = tmp_path / "drive.img"
    with file.open("wb") as opened:
        opened.truncate(SIZE)
    script = (
        f"get_size=echo {SIZE}",
        f"pread=dd if={file} skip=$4 count=$3 iflag=skip_bytes,count_bytes",
        f"pwrite=dd of={file} seek=$4 oflag=seek_bytes conv=notrunc",
    )
    with _served(tmp_path, "eval", *script) as uri:
        target = open_real(uri, Wishes(destroy=[uri]), lambda _lines: None)
        purged = target.purge()
        target.release()
    assert not purged.proved
    assert "128 as written" in purged.checked


def test_an_export_has_to_be_named_and_empty(tmp_path: Path) -> None:
    """Without a name nothing; with a file system on it, only if it is named again."""
    need("mkfs.ext4")
    file = tmp_path / "drive.img"
    with file.open("wb") as opened:
        opened.truncate(SIZE)
    run("mkfs.ext4", "-q", "-F", str(file))
    before = digest(file)
    with _served(tmp_path, "file", str(file)) as uri:
        shown: list[str] = []
        for wishes, why in (
            (Wishes(), "--destroy nbd"),
            (Wishes(destroy=["nbd://other/"]), "--destroy nbd"),
            (Wishes(destroy=[uri]), "ext4"),
        ):
            with pytest.raises(Refused, match=why):
                open_real(uri, wishes, shown.extend)
        assert uri in "\n".join(shown)
        seen = look(uri, Wishes(), lambda _lines: None)
        assert seen.target.describe().capacity_bytes == SIZE
        assert any("ext4" in each for each in seen.content)
        for write in (
            seen.target.purge,
            lambda: seen.target.perform(
                Step("s", Workload("random", 0, 4096, 1, 1), 1, 1.0), _go_on
            ),
        ):
            with pytest.raises(Refused, match="no permission"):
                write()
        seen.target.release()
        assert digest(file) == before
        open_real(uri, Wishes([uri], [uri]), lambda _lines: None).release()
    assert digest(file) == before


def test_a_read_only_export_is_refused(tmp_path: Path) -> None:
    """By what its server says."""
    with _served(tmp_path, "--readonly", "memory", f"{SIZE}") as uri:
        with pytest.raises(Refused, match="read-only"):
            open_real(uri, Wishes(destroy=[uri]), lambda _lines: None)


def test_errors_of_a_server_are_told(tmp_path: Path) -> None:
    """A server whose writes fail: fio's words, never zeros."""
    error = ("memory", f"{SIZE}", "--filter=error", "error-pread-rate=0%", "error-pwrite-rate=100%")
    with _served(tmp_path, *error) as uri, pytest.raises(SsdlabError, match="fio failed"):
        _measured(uri, Workload("random", 0, 4096, 1, 1))


def test_a_fio_without_the_engine_is_told(tmp_path: Path) -> None:
    """With what to do."""
    fio = tmp_path / "fio"
    fio.write_text("#!/bin/sh\necho fio-3.33\necho libaio\n")
    fio.chmod(0o755)
    with _served(tmp_path, "memory", f"{SIZE}") as uri:
        client = ExportClient(uri)
        with pytest.raises(SsdlabError, match="no engine for NBD"):
            ExportTarget(client, permit_uri(client, [uri]), fio=Fio(str(fio)))
        client.close()


@pytest.mark.parametrize(
    ("uri", "why"),
    [
        ("nbd+unix:///", "names no socket"),
        ("nbd+unix:///?socket=/nowhere/s", "cannot be reached"),
        ("nbd://127.0.0.1:1/", "cannot be reached"),
        ("nbd://127.0.0.1:99999/", "port"),
        ("nbds://127.0.0.1/", "expected nbd"),
    ],
)
def test_a_uri_that_leads_nowhere(uri: str, why: str) -> None:
    """Each with its reason."""
    assert is_uri(uri)
    with pytest.raises(SsdlabError, match=why):
        ExportClient(uri)


def test_an_export_by_name_over_tcp(tmp_path: Path) -> None:
    """The name is the path without its first slash; one that is not there is told."""
    need("nbdkit")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    words = ["nbdkit", "--foreground", "--exit-with-parent", "--ipaddr=127.0.0.1", f"--port={port}"]
    server = subprocess.Popen([*words, "--filter=exportname", "memory", "1M", "exportname=a b",
                               "exportname-strict=true"])  # fmt: skip
    try:
        wait_for(lambda: _listens(socket.AF_INET, ("127.0.0.1", port)), "nbdkit's port")
        with ExportClient(f"nbd://127.0.0.1:{port}/a%20b") as client:
            assert client.export.size_bytes == MIB
        with pytest.raises(SsdlabError, match="does not give this export"):
            ExportClient(f"nbd://127.0.0.1:{port}/c")
    finally:
        server.terminate()
        server.wait()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", "closed the connection"),
        (b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n", "not as an NBD server"),
        (b"NBDMAGICIHAVEOPT" + struct.pack(">H", 0), "too old"),
        (b"NBDMAGICIHAVEOPT" + struct.pack(">H", 1) + b"x" * 20, "not NBD's"),
    ],
)
def test_what_is_no_nbd_server(tmp_path: Path, answer: bytes, why: str) -> None:
    """It is told apart, and nothing hangs."""
    place = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(place))
        listening.listen(1)

        def serve() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.sendall(answer)
                connection.shutdown(socket.SHUT_WR)
                # Until the client goes away.
                while connection.recv(4096):
                    pass

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(SsdlabError, match=why):
            ExportClient(f"nbd+unix:///?socket={place}")
        thread.join()
