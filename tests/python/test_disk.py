"""A drive that holds bytes and loses power: what it promises, what it may take, what it refuses."""

from __future__ import annotations

import array
import random
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import ssdlab
from ssdlab.engine import policy
from test_simulated_health import SMALL

SECTOR = 512
VOLATILE = "intel-x25-m-g2-80gb"
PROTECTED = "intel-dc-s3500-80gb"


def small(name: str = VOLATILE, **options: Any) -> ssdlab.Disk:
    return ssdlab.disk(name, capacity_bytes="1GB", **options)


def tiny(settings: dict[str, Any] | None = None, **options: Any) -> ssdlab.Disk:
    given = {"nand.pages_per_block": 32, "buffer.bytes": "1MiB", **(settings or {})}
    return ssdlab.disk("theory", given, capacity_bytes="64MiB", **options)


def filled(value: int, sectors: int = 1) -> bytes:
    return bytes([value]) * (sectors * SECTOR)


def test_it_holds_bytes() -> None:
    """What is written is read; trims and zeroes read as zeroes; nothing else is touched."""
    drive = small()
    assert (drive.capacity_bytes, drive.sector_bytes) == (1_000_000_000, SECTOR)
    assert drive.read(0, 8 * SECTOR) == bytes(8 * SECTOR)
    numbers = [drive.write(4096 * unit, filled(unit + 1, 8)) for unit in range(3)]
    assert numbers == [1, 2, 3]
    drive.trim(0, 4096)
    assert drive.write_zeroes(4096, SECTOR) == 4
    told = drive.read(0, 3 * 4096)
    assert told == bytes(4096 + SECTOR) + filled(2, 7) + filled(3, 8)
    counters = drive.stats().counters
    assert (counters["host_writes"], counters["host_bytes_written"]) == (3, 3 * 4096)


@pytest.mark.parametrize(
    "data",
    [
        filled(7),
        bytearray(filled(7)),
        memoryview(filled(7)),
        memoryview(filled(7, 2))[::2],
        array.array("I", [0x07070707] * 128),
    ],
    ids=["bytes", "bytearray", "memoryview", "every second byte", "array"],
)
def test_it_takes_what_has_a_buffer(data: Any) -> None:
    """All of them are the same bytes."""
    drive = tiny()
    drive.write(SECTOR, data)
    assert drive.read(0, 3 * SECTOR) == filled(0) + filled(7) + filled(0)


def test_what_is_no_buffer_is_refused() -> None:
    """A number is not so many zeroes, and a text has no bytes of its own."""
    drive: Any = tiny()
    for data in (SECTOR, "x" * SECTOR):
        with pytest.raises(TypeError):
            drive.write(0, data)
    assert drive.stats().counters["host_writes"] == 0


def test_time_is_the_drives() -> None:
    """It passes with what is asked, and when it is told to: by as much as that."""
    drive = tiny()
    assert drive.now_ns == 0
    drive.write(0, filled(1))
    after = drive.now_ns
    assert after > 0
    drive.advance(5_000_000)
    assert drive.now_ns == after + 5_000_000


# ---- power cuts


def test_a_cut_takes_what_was_not_promised() -> None:
    """Of two acknowledged writes the flushed one stays; the other may be gone, which is told."""
    drive = small()
    assert drive.is_volatile
    drive.write(0, filled(1))
    drive.flush()
    second = drive.write(8 * SECTOR, filled(2))
    ends = set()
    for seed in range(8):
        clone = drive.clone()
        cut = clone.power_cut(seed)
        ends.add(cut.lost)
        assert cut.dropped == ()
        assert clone.read(0, SECTOR) == filled(1)
        assert clone.read(8 * SECTOR, SECTOR) == filled(0 if cut.lost else 2)
        # The drive is on again, and goes on.
        assert clone.write(8 * SECTOR, filled(3)) == 3
        assert clone.read(8 * SECTOR, SECTOR) == filled(3)
    assert ends == {(), (ssdlab.LostSector(8 * SECTOR, second, True),)}


def test_forced_access_needs_no_flush() -> None:
    """A write with FUA stays, the one beside it does not."""
    drive = small()
    drive.write(0, filled(1), fua=True)
    drive.write(4096, filled(2))
    lost = [drive.clone().power_cut(seed).lost for seed in range(8)]
    assert {each.offset for one in lost for each in one} == {4096}


def test_a_protected_buffer_loses_nothing() -> None:
    """Whatever was acknowledged is there, without a flush."""
    drive = small(PROTECTED)
    assert not drive.is_volatile
    for unit in range(100):
        drive.write(4096 * unit, filled(unit % 250 + 1))
    assert drive.power_cut().lost == ()
    assert all(drive.read(4096 * unit, SECTOR) == filled(unit % 250 + 1) for unit in range(100))


def test_the_seed_draws_what_is_whole() -> None:
    """The cut's seed says which rows under program are whole: both happen, each again."""

    def lost(seed: int | None) -> frozenset[int]:
        drive = tiny({"buffer.bytes": "0"})
        for unit in range(8):
            drive.submit_write(4096 * unit, filled(unit + 1, 8))
        while drive.stats().counters["nand_pages_written"] == 0:
            assert drive.step()
        return frozenset(each.offset for each in drive.power_cut(seed).lost)

    drawn = [lost(seed) for seed in range(12)]
    assert drawn == [lost(seed) for seed in range(12)]
    assert len(set(drawn)) > 1
    assert lost(None) == lost(None)


# ---- faults


def test_a_drive_may_lie() -> None:
    """What it said to have flushed is lost, and told as its fault; what was not flushed is not."""
    for faults in ((), ("lying",)):
        drive = tiny(faults=faults)
        first = drive.write(0, filled(1, 8))
        drive.flush()
        second = drive.write(4096, filled(2, 8))
        broken, gone = set(), set()
        for seed in range(8):
            clone = drive.clone()
            cut = clone.power_cut(seed)
            broken |= {(each.offset, each.write, each.flushed) for each in cut.broken_promises}
            gone |= {each.write for each in cut.lost}
            assert (clone.read(0, SECTOR) == filled(0)) == (len(cut.broken_promises) > 0)
            assert cut.undo_dropped == ()
        assert broken == {(SECTOR * sector, first, first) for sector in range(8 * len(faults))}
        assert gone == ({first, second} if faults else {second})


def test_what_a_fault_does_is_named() -> None:
    """A unit under program is shorn or unreadable, as the seed draws; a clone has faults, too."""
    drive = tiny({"buffer.bytes": "0"}, faults=("shorn", "unreadable"))
    drive.write(0, filled(1, 8))
    drive.submit_write(0, filled(2, 8))
    before = drive.stats().counters["nand_pages_written"]
    while drive.stats().counters["nand_pages_written"] == before:
        assert drive.step()
    seen = set()
    for seed in range(40):
        clone = drive.clone()
        cut = clone.power_cut(seed)
        seen |= {each.what for each in cut.lost}
        for each in cut.lost:
            assert (each.acknowledged, each.flushed, each.was_acknowledged) == (1, 1, False)
            if each.what == "unreadable":
                with pytest.raises(ssdlab.MediaError):
                    clone.read(each.offset, SECTOR)
            else:
                assert clone.read(each.offset, SECTOR) == filled(1)
        assert cut.broken_promises == tuple(each for each in cut.lost if each.what != "lost")
    assert seen == {"lost", "torn", "unreadable"}


def test_a_fault_that_is_none_is_refused() -> None:
    """Its name is told, and those that there are; a single name is taken as it is."""
    with pytest.raises(ssdlab.SsdlabError, match="fault torn: .*\nchoose among shorn, unreadable"):
        tiny(faults="torn")
    drive = tiny({"buffer.power_loss_protected": True}, faults="capacitor")
    drive.write(0, filled(1))
    cuts = [drive.clone().power_cut(seed) for seed in range(8)]
    assert {each.flushed for cut in cuts for each in cut.broken_promises} == {1}


# ---- queued calls


def test_commands_wait_in_a_queue() -> None:
    """Several are under way; each is waited for in any order, once."""
    drive = tiny()
    writes = [drive.submit_write(4096 * unit, filled(unit + 1)) for unit in range(4)]
    assert [each.write for each in writes] == [1, 2, 3, 4]
    read = drive.submit_read(0, SECTOR)
    assert (read.operation, read.offset, read.length, read.write) == ("read", 0, SECTOR, 0)
    for handle in reversed(writes):
        assert drive.wait(handle) == b""
    drive.wait(drive.submit_flush())
    drive.wait(drive.submit_trim(0, 4096))
    drive.wait(drive.submit_write_zeroes(4096, SECTOR))
    assert len(drive.wait(read)) == SECTOR
    assert drive.read(0, 2 * SECTOR) == filled(0, 2)
    with pytest.raises(ssdlab.DiskError, match="waited for before"):
        drive.wait(read)


def test_a_cut_drops_what_is_under_way() -> None:
    """A command that had ended is still told; one that had not never ends, and is named."""
    drive = tiny()
    first = drive.submit_write(0, filled(1))
    drive.advance(1_000_000_000)
    second = drive.submit_write(4096, filled(2))
    cut = drive.power_cut()
    assert cut.dropped == (second,)
    assert drive.wait(first) == b""
    told = "write of 512 bytes at offset 4096: it was under way when the power was cut"
    for _ in range(2):
        with pytest.raises(ssdlab.DroppedError, match=told):
            drive.wait(second)


def test_a_lost_write_need_not_be_acknowledged() -> None:
    """Of a write that was under way, what had reached the drive is told as not acknowledged."""
    drive = tiny({"buffer.bytes": "0"})
    handle = drive.submit_write(0, filled(1, 8))
    while drive.stats().counters["nand_pages_written"] == 0:
        assert drive.step()
    cut = drive.clone().power_cut(1), drive.clone().power_cut(2), drive.power_cut(3)
    lost = {each for one in cut for each in one.lost}
    assert lost == {ssdlab.LostSector(SECTOR * sector, 1, False) for sector in range(8)}
    assert all(one.dropped == (handle,) for one in cut)


def test_another_drives_command_is_not_waited_for() -> None:
    """A handle is of one drive, and of the clones that were made while it was under way."""
    drive, other = tiny(), tiny()
    read = drive.submit_read(0, SECTOR)
    other.submit_read(0, SECTOR)
    with pytest.raises(ssdlab.DiskError, match="another drive"):
        other.wait(read)
    clone = drive.clone()
    of_clone = clone.submit_read(SECTOR, SECTOR)
    assert drive.wait(read) == clone.wait(read) == filled(0)
    with pytest.raises(ssdlab.DiskError, match="another drive"):
        drive.wait(of_clone)


def test_threads_take_turns() -> None:
    """Each of several threads reads what it wrote, and nothing is lost between them."""
    drive = tiny()

    def work(number: int) -> bool:
        places = [4096 * (4 * unit + number) for unit in range(500)]
        for place in places:
            drive.write(place, filled(number + 1, 8))
        return all(drive.read(place, 4096) == filled(number + 1, 8) for place in places)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(work, range(4)))
    assert drive.stats().counters["host_writes"] == 2000


# ---- clones and histories


def test_clones_go_their_own_ways() -> None:
    """What is done to one is not done to the other, and neither is a cut."""
    drive = small()
    drive.write(0, filled(1))
    clone = drive.clone()
    clone.write(0, filled(2))
    clone.write(4096, filled(3))
    assert drive.read(0, SECTOR) == filled(1)
    assert drive.read(4096, SECTOR) == filled(0)
    assert len(clone.power_cut().lost) > 0
    drive.flush()
    assert drive.power_cut().lost == ()
    assert drive.read(0, SECTOR) == filled(1)


def _history(drive: ssdlab.Disk, seed: int) -> list[Any]:
    """Do this and that; tell all that the drive tells."""
    draws, told = random.Random(seed), list[Any]()
    for _ in range(300):
        offset = 4096 * draws.randrange(200)
        chosen = draws.randrange(6)
        if chosen == 0:
            drive.flush()
        elif chosen == 1:
            told.append(drive.read(offset, 4096)[:1])
        elif chosen == 2:
            drive.submit_write(offset, filled(draws.randrange(256)))
            drive.step()
            cut = drive.power_cut()
            told += [cut.lost, len(cut.dropped)]
        else:
            drive.write(offset, filled(draws.randrange(256)))
    return [*told, drive.now_ns, drive.stats()]


@pytest.mark.parametrize("state", ["fresh", "used"])
def test_one_seed_one_history(state: str) -> None:
    """The same calls tell the same, on drives made alike and on a clone; another seed does not."""
    drive = tiny(state=state, seed=5)
    clone = drive.clone()
    told = _history(drive, 1)
    assert told == _history(clone, 1)
    assert told == _history(tiny(state=state, seed=5), 1)
    assert told == _history(tiny(state=state, seed=5, cache=False), 1)
    assert told != _history(tiny(state=state, seed=6), 1)


# ---- conditions


def test_steady_is_the_steady_of_run(tmp_path: Path) -> None:
    """A run's requests, made one by one, do to the drive all that they do in the run.

    Every counter is the same, and so is write amplification, which is a steady drive's.
    """
    log = tmp_path / "log"
    old = ssdlab.drive(PROTECTED, capacity_bytes="1GB")
    options: dict[str, Any] = {"rw": "randwrite", "bs": "4k", "number_ios": 5000}
    job = old.run(state="steady", seed=3, write_iolog=str(log), **options).job()
    drive = small(PROTECTED, state="steady", seed=3)
    assert drive.stats().write_amplification is None
    assert drive.stats().condition == "steady:uniform"
    requests = re.findall(r" write (\d+) (\d+)$", log.read_text(), re.MULTILINE)
    for offset, length in requests:
        drive.write(int(offset), bytes(int(length)))
    stats = drive.stats()
    assert len(requests) == 5000
    assert stats.counters == job.lab["counters"]
    assert stats.write_amplification == job.write_amplification
    assert stats.write_amplification is not None and stats.write_amplification > 3


def test_a_drive_file_is_a_drive(tmp_path: Path) -> None:
    """What season kept is taken as it is, and reads as zeroes though it is mapped."""
    file = tmp_path / "old.ssd"
    settings = {"nand.pages_per_block": 32}
    ssdlab.drive("theory", settings, capacity_bytes="64MiB").season(to="filled", save=file)
    drive = ssdlab.disk(str(file))
    assert drive.stats().condition == "filled"
    assert drive.read(1 << 20, 4096) == bytes(4096)
    assert drive.stats().counters["nand_pages_read"] == 1


# ---- what is refused


def _full_queue(drive: ssdlab.Disk) -> None:
    for _ in range(drive.queue_depth + 1):
        drive.submit_read(0, SECTOR)


@pytest.mark.parametrize(
    ("call", "error", "told"),
    [
        (
            lambda d: d.read(100, 512),
            ssdlab.UnalignedError,
            r"offset 100.*512 bytes.*use offset 0 ",
        ),
        (lambda d: d.write(0, b"x" * 100), ssdlab.UnalignedError, "write of 100.*and length 512"),
        (lambda d: d.write(0, b""), ssdlab.UnalignedError, "write of 0 bytes.*at least one"),
        (lambda d: d.trim(512, 1), ssdlab.UnalignedError, "trim of 1 bytes at offset 512"),
        (lambda d: d.submit_read(1, 1), ssdlab.UnalignedError, "read of 1 bytes at offset 1"),
        (lambda d: d.read(10**9, 512), ssdlab.OutOfRangeError, "offset 1000000000.*1000000000 b"),
        (lambda d: d.read(0, 1 << 62), ssdlab.OutOfRangeError, "stay below"),
        (lambda d: d.write_zeroes(512, 10**9), ssdlab.OutOfRangeError, "write of zeroes"),
        (lambda d: d.read(-512, 512), ssdlab.SsdlabError, "offset -512: must be"),
        (lambda d: d.read(0, 1 << 70), ssdlab.SsdlabError, "length 1180.*: must be"),
        (lambda d: d.advance(-1), ssdlab.SsdlabError, "duration_ns -1: must be"),
        (lambda d: d.power_cut(-1), ssdlab.SsdlabError, "seed -1: must be"),
        (_full_queue, ssdlab.BusyError, "32 commands under way.*wait for one"),
    ],
)
def test_what_does_not_fit_is_refused(
    call: Callable[[ssdlab.Disk], object], error: type[ssdlab.SsdlabError], told: str
) -> None:
    """The error is the package's, and names place, value and remedy; the drive has not seen it."""
    drive = small()
    with pytest.raises(error, match=f"(?s){told}") as raised:
        call(drive)
    assert type(raised.value) is error
    counters = drive.stats().counters
    assert counters["host_reads"] == counters["host_writes"] == counters["host_trims"] == 0


@pytest.mark.parametrize(
    ("name", "options", "told"),
    [
        ("nosuch", {}, "there is no drive nosuch"),
        (VOLATILE, {"capacity_bytes": "1MiB"}, "give at least capacity_bytes="),
        (VOLATILE, {"capacity_bytes": 10**8}, "multiple of the sector"),
        ("theory", {"state": "stedy"}, "stedy"),
        ("theory", {"settings": {"ftl.gcc": "fifo"}}, "ftl.gcc"),
        ("theory", {"state": "steady", "job": "baseline"}, "same for all jobs"),
        ("theory", {"seed": -1}, "seed -1"),
    ],
)
def test_a_drive_that_cannot_be_had(name: str, options: dict[str, Any], told: str) -> None:
    """The error is the one of `run`."""
    with pytest.raises(ssdlab.SsdlabError, match=told):
        ssdlab.disk(name, **options)


def test_a_hard_disk_holds_no_bytes() -> None:
    """It has none of what this is about."""
    disks = [each["name"] for each in ssdlab.profiles() if not each["cell"]]
    assert disks
    with pytest.raises(ssdlab.SsdlabError, match="hard disk"):
        ssdlab.disk(disks[0])


def test_a_worn_out_drive_says_so() -> None:
    """It takes no more writes, by an error of its own; what it holds can be read."""
    settings: dict[str, Any] = {**dict(SMALL), "reliability.rated_cycles": 3}
    drive = ssdlab.disk("samsung-990-pro-1tb", settings)
    drive.write(0, filled(1))
    units = drive.capacity_bytes // 4096
    draws = random.Random(1)
    with pytest.raises(ssdlab.ReadOnlyError, match="write of 4096 bytes at offset .*read-only"):
        for _ in range(1000 * units):
            drive.write(4096 * draws.randrange(1, units), filled(2, 8))
    assert drive.stats().read_only
    assert drive.read(0, SECTOR) == filled(1)


def test_what_cannot_be_read_says_so() -> None:
    """A sector beyond the strength of the ECC is a media error that names where."""
    drive = tiny({"reliability.rber_fresh": 0.01, "reliability.retries": 0, "buffer.bytes": "0"})
    drive.write(4096, filled(1, 8))
    with pytest.raises(ssdlab.MediaError, match="read of 512 bytes at offset 4608: .*media error"):
        drive.read(4096 + SECTOR, SECTOR)
    assert drive.stats().counters["uncorrectable_reads"] == 1


# ---- policies of the user's own


def _overwritten(drive: ssdlab.Disk) -> None:
    """Write a little more than the drive holds, so that blocks have to be collected."""
    for unit in range(2 * drive.capacity_bytes // 4096):
        drive.write(4096 * (unit * 7919 % (drive.capacity_bytes // 4096)), bytes(4096))


def test_a_drive_with_a_policy_of_ones_own() -> None:
    """It works as any other but for clones, which are refused; a wrong answer is an error."""
    with policy.setting(lambda blocks: int(blocks.valid.argmin())) as chosen:
        drive = tiny(dict(chosen))
        _overwritten(drive)
        assert drive.stats().counters["blocks_erased"] > 0
        with pytest.raises(ssdlab.SsdlabError, match="ftl.gc: .*cannot be cloned"):
            drive.clone()
    with policy.setting(lambda blocks: 10**6) as chosen:
        drive = tiny(dict(chosen))
        with pytest.raises(ssdlab.DiskError, match="answer 1000000: the pool has"):
            _overwritten(drive)
