"""A loop device in memory, loaded by fio as a target of the performance test."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from loop_devices import MIB, digest, loop_device, memory_file, need
from ssdlab.bench.book import plan
from ssdlab.bench.plan import Pauses, Step, Workload
from ssdlab.bench.real.claims import writers
from ssdlab.bench.real.device import DeviceTarget
from ssdlab.bench.real.fio_output import FioError
from ssdlab.bench.real.fio_program import Fio
from ssdlab.bench.real.fio_words import Place, commands
from ssdlab.bench.real.node import find_node
from ssdlab.bench.real.safety import Refused, permit
from ssdlab.bench.target import Target
from ssdlab.ground.errors import SsdlabError, Stopped

pytestmark = pytest.mark.end_to_end

# Not a multiple of the 128 KiB blocks that fill it: three blocks of 4 KiB are left over.
SIZE = 48 * MIB + 3 * 4096
RANDOM = Workload("random", 0, 4096, threads=2, depth=4)


def _go_on(_what: str, _share: float) -> bool:
    return True


@contextmanager
def _target(
    folder: Path, size: int = SIZE, sector_bytes: int = 512, purge: str = "best"
) -> Iterator[DeviceTarget]:
    need("fio", "wipefs")
    file = memory_file(folder)
    try:
        with loop_device(file, size, sector_bytes) as device:
            permission, examined = permit(device, [device])
            target = DeviceTarget(examined, permission, purge=purge)
            try:
                yield target
            finally:
                target.release()
    finally:
        file.unlink(missing_ok=True)


def _file(target: DeviceTarget) -> Path:
    return Path(str(target.describe().surroundings["layers"][0]["backing_file"]))


def test_it_is_a_target(tmp_path: Path) -> None:
    """It tells what it is, what it runs under, and where it falls short of the standard."""
    with _target(tmp_path) as target:
        as_target: Target = target
        told = as_target.describe()
        assert (told.kind, told.capacity_bytes, told.sector_bytes) == ("block device", SIZE, 512)
        assert re.fullmatch(r"fio-\d.*", told.surroundings["fio"])
        assert told.surroundings["engine"] in ("io_uring", "libaio")
        assert "none" in told.surroundings["queue"]["scheduler"]
        assert told.surroundings["kernel"]
        clauses = [each.clause for each in as_target.deviations()]
        assert any("idle" in clause for clause in clauses)
        # A loop device has a cache in the file below it, and no switch.
        assert any("write cache" in clause for clause in clauses)
        assert target.write_cache_off().during == "on"


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_preconditioning_writes_what_it_says(tmp_path: Path, threads: int) -> None:
    """Twice every byte, by fio's count and by the kernel's, and no byte is left as it was."""
    with _target(tmp_path) as target:
        before = target.counters()
        step = Step("fill", Workload("sequential", 0, 128 << 10, threads, 4), 7, passes=2.0)
        measured = target.perform(step, _go_on)
        after = target.counters()
        assert measured.write.total_bytes == 2 * SIZE
        assert before is not None and after is not None and after.source == "kernel"
        assert after.host_bytes_written - before.host_bytes_written == 2 * SIZE
        records = [job["ssdlab"] for job in measured.raw]
        assert sum(each["bytes_written_by_kernel"] for each in records) == 2 * SIZE
        content = _file(target).read_bytes()
        # Random data have no empty kilobyte, and none that is there twice.
        kilobytes = [content[at : at + 1024] for at in range(0, SIZE, 1024)]
        assert len(set(kilobytes)) == len(kilobytes)
        assert bytes(1024) not in kilobytes


def test_the_purge_is_proved(tmp_path: Path) -> None:
    """A discard leaves zeroes where there were data; without one the title says not purged."""
    with _target(tmp_path) as target:
        target.perform(
            Step("fill", Workload("sequential", 0, 128 << 10, 1, 4), 7, passes=1.0), _go_on
        )
        purged = target.purge()
        assert purged.proved
        assert purged.asked.startswith("blkdiscard ")
        assert "128 read as zeroes" in purged.checked
        assert _file(target).read_bytes() == bytes(SIZE)


def test_no_purge_is_no_purge(tmp_path: Path) -> None:
    """What was written before is read again, and nothing is proved."""
    with _target(tmp_path, purge="none") as target:
        purged = target.purge()
        assert not purged.proved
        assert "128 as written" in purged.checked


def test_a_way_that_is_not_there_says_so(tmp_path: Path) -> None:
    """A loop device has no format."""
    with _target(tmp_path, purge="format") as target:
        purged = target.purge()
        assert not purged.proved
        assert "no NVMe drive" in purged.answered


def test_a_mix_has_one_distribution(tmp_path: Path) -> None:
    """The mix's figures add up from both directions, and its extremes are theirs."""
    with _target(tmp_path) as target:
        step = Step("random 65/35 4 KiB", Workload("random", 65, 4096, 2, 4), 3, passes=0.5)
        found = target.perform(step, _go_on)
        assert found.both.requests == found.read.requests + found.write.requests
        assert found.both.total_bytes == pytest.approx(SIZE / 2, abs=2 * 4096)
        share = found.read.requests / found.both.requests
        # Of 6144 draws of 0.65, three standard deviations are 0.018.
        assert share == pytest.approx(0.65, abs=0.02)
        extremes = (found.read.max_ns, found.write.max_ns)
        assert found.both.max_ns == max(each for each in extremes if each is not None)
        assert list(found.both.percentiles_ns) == ["50", "90", "99", "99.9", "99.99", "99.999"]


def _offsets(folder: Path, seed: int, device: str) -> list[list[int]]:
    """Give where each thread wrote; fio's log has time, latency, direction, size and offset."""
    place = Place("libaio", (f"--filename={device}",), 64 * MIB)
    # An eighth of the device are 1024 requests of each thread.
    (words,) = commands(Step("cell", RANDOM, seed, passes=0.125), place)
    log = folder / f"log-{seed}"
    Fio().perform([*words, f"--write_lat_log={log}", "--log_offset=1"], None)
    return [
        [int(line.split(",")[4]) for line in file.read_text().splitlines()[:500]]
        for file in sorted(folder.glob(f"log-{seed}_lat*"))
    ]


def test_offsets_differ_between_rounds_and_threads(tmp_path: Path) -> None:
    """Each thread in each round of a cell goes to other places, all over the device."""
    need("fio")
    with loop_device(tmp_path / "drive.img") as device:
        # Seeds of which one is a multiple of the other: fio multiplies them with thread numbers.
        found = [each for seed in (1, 2, 3) for each in _offsets(tmp_path, seed, device)]
    assert len(found) == 6
    for offsets in found:
        # 500 draws of 16384 places meet 492 different ones.
        assert len(set(offsets)) > 470
        assert min(offsets) < 4 * MIB and max(offsets) > 60 * MIB
    for one, other in combinations(found, 2):
        # Two random choices of so many share about 15.
        assert len(set(one) & set(other)) < 45


def test_4096_byte_sectors(tmp_path: Path) -> None:
    """512 bytes are left out, and the tracked cell is still the one of 4 KiB."""
    with _target(tmp_path, sector_bytes=4096) as target:
        told = target.describe()
        assert told.sector_bytes == 4096
        asked = plan(["iops", "lat"], 2, 4, 1, False, told.sector_bytes)
        for test in asked.tests:
            for part in test.parts:
                assert min(cell.load.block_bytes for cell in part.cells) == 4096
                assert part.tracking.cell == "random 0/100 4 KiB"
        assert target.purge().proved
        fill = Step("fill", Workload("sequential", 0, 128 << 10, 2, 4), 7, passes=2.0)
        assert target.perform(fill, _go_on).write.total_bytes == 2 * SIZE
        with pytest.raises(FioError):
            small = Workload("random", 0, 512, 1, 1)
            target.perform(Step("too small", small, 1, seconds=0.2), _go_on)


def test_a_sequential_load_wraps_around(tmp_path: Path) -> None:
    """From just before the end, and then from the beginning for the time that is left."""
    with _target(tmp_path) as target:
        block, blocks = 128 << 10, SIZE // (128 << 10)
        load = Workload("sequential", 0, block, 1, 4)
        step = Step("tp", load, 5, seconds=2.0, offset_bytes=(blocks - 2) * block)
        found = target.perform(step, _go_on)
        first, second = found.raw
        assert int(first["write"]["io_bytes"]) == 2 * block
        assert "--offset=" not in second["ssdlab"]["command"]
        # Two seconds of load, but for what fio's clock, in milliseconds, is short of.
        assert found.seconds >= 1.9


def _longest_gap_s(log: Path) -> float:
    """Give the longest time between two requests; fio's log begins with milliseconds."""
    times = [int(line.split(",")[0]) for line in log.read_text().splitlines()]
    return max(after - before for before, after in pairwise(times)) / 1e3


def test_pauses_are_without_requests(tmp_path: Path) -> None:
    """fio's log of each request has a gap as long as the idle time: a sleep is never shorter."""
    need("fio")
    with loop_device(tmp_path / "drive.img") as device:
        place = Place("libaio", (f"--filename={device}",), 64 * MIB)
        load = Workload("random", 0, 4096, 1, 1)
        (words,) = commands(Step("turns", load, 6, seconds=3.0, pauses=Pauses(0.02, 0.3)), place)
        log = tmp_path / "turns"
        Fio().perform([*words, f"--write_lat_log={log}"], None)
    assert _longest_gap_s(Path(f"{log}_lat.1.log")) >= 0.299


def test_it_stops_when_told_to(tmp_path: Path) -> None:
    """Of ten minutes hardly any pass, and no fio is left."""
    with _target(tmp_path) as target:
        step = Step("long", RANDOM, 1, seconds=600.0)
        with pytest.raises(Stopped):
            target.perform(step, lambda _what, _share: False)
        assert writers(find_node(target.describe().name)) == []


def test_a_device_that_fails_is_an_error(tmp_path: Path) -> None:
    """The file below ends before the device does: fio's words, and no figures."""
    with _target(tmp_path) as target:
        with _file(target).open("r+b") as file:
            file.truncate(4096)
        with pytest.raises(FioError, match=r"fio: .*(error|No space)"):
            target.perform(
                Step("reads", Workload("random", 100, 4096, 1, 1), 1, seconds=1.0), _go_on
            )


def test_nothing_is_written_once_it_is_given_back(tmp_path: Path) -> None:
    """A target that was closed writes no more."""
    need("fio", "wipefs")
    file = tmp_path / "drive.img"
    with loop_device(file) as device:
        permission, examined = permit(device, [device])
        target = DeviceTarget(examined, permission)
        target.release()
        before = digest(file)
        for write in (target.purge, lambda: target.perform(Step("s", RANDOM, 1, 1.0), _go_on)):
            with pytest.raises(Refused, match="given back"):
                write()
        assert digest(file) == before


def test_a_state_cannot_be_kept(tmp_path: Path) -> None:
    """A real drive goes on as it is."""
    with _target(tmp_path) as target:
        assert target.resumption == "as it is"
        with pytest.raises(SsdlabError, match="cannot be kept"):
            target.keep(tmp_path / "state")
