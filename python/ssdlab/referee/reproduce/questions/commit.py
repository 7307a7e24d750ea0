"""What a commit costs: a small write made durable, one at a time, with and without protection.

Two jobs stand for databases: etcd's check of a disk by fio (2300 B and fdatasync, which the page
cache makes whole pages of) and PostgreSQL's ``pg_test_fsync`` (8 KiB and fdatasync, or a file
opened with O_DSYNC). The documents measured other drives than ours, through a file system; so most
of their figures are shown beside ours, and what is put to the test is how much protection matters.
"""

from __future__ import annotations

from ssdlab.engine.request import Settings
from ssdlab.experiment.experiment import Experiment, Value, section, story
from ssdlab.experiment.scale import Scale
from ssdlab.ground import documents, text
from ssdlab.referee.reproduce import judging, pictures
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.pictures import Bar
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results

PROTECTED = {"NVMe, protected": "micron-7450-pro-960gb", "SATA, protected": "intel-dc-s3700-200gb"}
UNPROTECTED = {
    "NVMe, unprotected": "samsung-990-pro-1tb",
    "SATA, unprotected": "samsung-870-qvo-1tb",
    "SATA of 2009, unprotected": "intel-x25-m-g2-80gb",
}
DRIVES = {**PROTECTED, **UNPROTECTED}
SERVER, CONSUMER = "NVMe, protected", "NVMe, unprotected"
WITH_CAPACITORS = "NVMe, unprotected, were it protected"
_CAPACITORS: Settings = (("buffer.power_loss_protected", "true"),)
CALLAGHAN = "Callaghan, SSDs, power loss protection and fsync latency"
CEPH = "Ceph Disk Benchmarks (TheJJ/ceph-diskbench)"
_DECIDED = (
    "ftl.map_journal",
    "nand.slc_program_us",
    "buffer.power_loss_protected",
    "buffer.fua_past_slc",
)
_LEAST_GAIN = 20.0
"""How many times faster a protected drive is at least; the closest pair of the list is 23."""
_FAST, _SLOW = 3.0, 10.0
"""A flush takes at most so many times its write with protection, and at least so many without."""

ETCD, POSTGRES, DSYNC, SYNC = "etcd", "pg_test_fsync", "open_datasync", "sync 4k"


def _jobs() -> str:
    commits: dict[str, Value] = {"number_ios": 2000, "rw": "write"}
    return story(
        section(ETCD, **commits, ioengine="sync", fdatasync=1, size="22m", bs=2300),
        section(POSTGRES, **commits, ioengine="sync", fdatasync=1, size="32m", bs="8k", direct=1),
        section(DSYNC, **commits, ioengine="sync", sync="dsync", size="32m", bs="8k", direct=1),
        section(SYNC, **commits, iodepth=1, sync=1, size="32m", bs="4k", direct=1),
    )


def experiments(scale: Scale) -> list[Experiment]:
    """Return every drive, and the consumer's with capacitors, as new as from the box."""
    return [
        *(Experiment(name, drive, _jobs(), whole=True) for name, drive in DRIVES.items()),
        Experiment(WITH_CAPACITORS, DRIVES[CONSUMER], _jobs(), settings=_CAPACITORS, whole=True),
    ]


def commit_us(results: Results, name: str, job: str = POSTGRES) -> float:
    """Return the mean time of a commit: the write and the flush behind it."""
    return results.mean_us(name, job) + _flush_us(results, name, job)


def _flush_us(results: Results, name: str, job: str = POSTGRES) -> float:
    return results.mean(name, job, lambda each: each.mean_ns("sync")) / 1e3


def _slowest_p99_ms(results: Results) -> float:
    p99 = [results.mean(each, ETCD, lambda job: job.percentile_ns(99, "sync")) for each in DRIVES]
    return max(p99) / 1e6


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    server, consumer = (commit_us(results, each) for each in (SERVER, CONSUMER))
    synced = {name: results.iops(name, SYNC) for name in DRIVES}
    flush_over_write = {
        name: _flush_us(results, name) / results.mean_us(name, POSTGRES) for name in DRIVES
    }
    fast = max(flush_over_write[name] for name in PROTECTED)
    slow = min(flush_over_write[name] for name in UNPROTECTED)
    theirs = {name: documents.figure("ceph-diskbench", name).value for name in _CEPH_DRIVES}
    consumers = [theirs[name] for name in ("pm961", "pm981", "ssd_970_pro")]
    least, most = (theirs["pm963"] / pick(consumers) for pick in (max, min))
    gain = synced[SERVER] / synced[CONSUMER]
    limit = documents.figure("etcd-fio", "limit").value
    slowest = _slowest_p99_ms(results)
    host = "The model has no host, no file system and no spread; its journal is a page a flush."
    return [
        judging.judged(
            "990 PRO: commits by fdatasync against O_DSYNC",
            documents.ratio("poder", "fdatasync", "open_datasync"),
            commit_us(results, CONSUMER, DSYNC) / consumer,
            judging.FIRMWARE,
            uncounted=judging.AFTERWARDS,
            decided_by=_DECIDED,
            profile=DRIVES[CONSUMER],
            reason=(
                "Asked first with FUA as a write and a flush: × 1.00. That the data of a write "
                "with FUA go past this drive's SLC cache was supposed afterwards; why the drive "
                "takes longer is not published. The document's drive has 2 TB."
            ),
        ),
        judging.shape(
            "synchronous writes of 4 KiB: protected against unprotected, both NVMe",
            CEPH,
            "list of devices",
            f"× {least:.0f} to × {most:.0f}",
            f"× {gain:.0f}",
            gain >= _LEAST_GAIN,
            figures=[(least, gain, most)],
            reason=(
                f"It holds from × {_LEAST_GAIN:.0f} on. × 20 before the data of a write with FUA "
                f"went past the SLC cache, which another row asked for. {host}"
            ),
        ),
        judging.shape(
            "without protection writes are fast and flushes slow",
            CALLAGHAN,
            "smalldatum, 7 January 2026",
            "consumers' drives: writes fast, fsync slow; servers' drives: both fast",
            f"flush against write: × {slow:.0f} and more; × {fast:.1f} at most with protection",
            slow >= _SLOW and fast <= _FAST,
        ),
        judging.shape(
            "every drive is fast enough for etcd",
            "Olivi and Spreitzer, Using fio to tell whether your storage is fast enough for etcd",
            "the short story",
            f"99th percentile of fdatasync below {limit:g} ms",
            f"{slowest:.2g} ms on the slowest of five",
            slowest < limit,
        ),
        judging.shown(
            "990 PRO, 8 KiB and fdatasync",
            documents.figure("poder", "fdatasync"),
            f"{text.count(1e6 / consumer)} commits/s",
            reason=host,
        ),
        judging.shown(
            "7450 PRO, synchronous writes of 4 KiB",
            documents.figure("ceph-diskbench", "pm963"),
            f"{text.count(synced[SERVER])} IOPS",
            reason=host,
        ),
        judging.shown(
            "DC S3700, synchronous writes of 4 KiB",
            documents.figure("ceph-diskbench", "pm863a"),
            f"{text.count(synced['SATA, protected'])} IOPS",
            reason=host,
        ),
        judging.shown(
            "990 PRO, etcd's fdatasync",
            documents.figure("etcd-fio", "mean"),
            text.duration(1e3 * _flush_us(results, CONSUMER, ETCD)),
            reason="The document does not say what storage its example is of.",
        ),
        judging.shown(
            "990 PRO, fdatasync behind 8 KiB",
            documents.figure("zaitsev", "fsync"),
            text.duration(1e3 * _flush_us(results, CONSUMER)),
            reason="The document's drive is two generations older, and fsync writes metadata too.",
        ),
    ]


_CEPH_DRIVES = ("pm963", "pm961", "pm981", "ssd_970_pro")


def picture(results: Results) -> str:
    """Draw commits a second of every drive."""
    theirs = documents.figure("poder", "fdatasync").value / 1e3
    panels = [
        (
            heading,
            [
                Bar(
                    name.split(",")[0],
                    1e6 / commit_us(results, name) / 1e3,
                    colour,
                    theirs if name == CONSUMER else None,
                )
                for name in group
            ],
        )
        for heading, group, colour in (
            ("power-loss protected", PROTECTED, 2),
            ("not protected", UNPROTECTED, 1),
        )
    ]
    return pictures.bars(
        "commit", "commits a second", "1000 commits of 8 KiB a second", panels, text.significant
    )


def finding(results: Results) -> str:
    """Say what a commit costs."""
    costs = {name: text.duration(1e3 * commit_us(results, name)) for name in DRIVES}
    ratio = commit_us(results, CONSUMER) / commit_us(results, SERVER)
    capacitors = commit_us(results, CONSUMER) / commit_us(results, WITH_CAPACITORS)
    return (
        f"A commit of 8 KiB takes {costs[SERVER]} on the server's NVMe drive and "
        f"{costs[CONSUMER]} on the consumer's, × {ratio:.0f}: the one answers from a buffer that "
        "survives a power cut, the other programs its buffer and then a page of its map's journal. "
        f"With capacitors the consumer's drive would be × {capacitors:.0f} faster. "
        "The interface matters less: the protected SATA drive "
        f"takes {costs['SATA, protected']}, the drive of 2009 "
        f"{costs['SATA of 2009, unprotected']}."
    )


QUESTION = Question(
    number=12,
    name="commit",
    title="What does a commit cost?",
    said=(
        (
            "Callaghan, smalldatum, 7 January 2026",
            "Without power-loss protection writes are fast and fsync is slow.",
        ),
        (
            "Zaitsev, Percona",
            "A Samsung 960 PRO takes 3.5 ms for fsync, hardly less than a hard disk.",
        ),
        ("Poder", "A Samsung 990 PRO commits 609 times a second by fdatasync."),
        ("Olivi and Spreitzer", "etcd wants 99 % of its fdatasyncs done in 10 ms."),
    ),
    experiments=experiments,
    rows=rows,
    picture=picture,
    caption=(
        "Writes of 8 KiB, each with fdatasync behind it, one at a time. Outlined: what "
        "pg_test_fsync measured on a 990 PRO of 2 TB."
    ),
    mechanism=(
        "A flush makes durable what was acknowledged. With capacitors everything is, so it costs a "
        "command. Without, the buffer has to be programmed, and then what has changed in the map: "
        "two programs in a row, which nothing hides when commits come one at a time."
    ),
    finding=finding,
    seconds=2,
    stand_ins=(
        "The map's journal is a page at each flush that finds a change; what drives write is not "
        "published.",
        "etcd's 2300 B go through the page cache, in whole pages of 4 KiB; its file is laid out.",
        "No file system: fdatasync of a file that was laid out before changes no metadata.",
    ),
)
