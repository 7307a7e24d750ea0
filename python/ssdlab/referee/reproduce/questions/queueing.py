"""What queue depth, the mix of reads and writes, order and NCQ do."""

from __future__ import annotations

from itertools import pairwise

from ssdlab.engine.conditions import BY_JOB
from ssdlab.engine.request import Settings
from ssdlab.experiment.experiment import Experiment, Value, section, story
from ssdlab.experiment.scale import Scale
from ssdlab.ground import documents, text
from ssdlab.referee.reproduce import judging, pictures
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.parts import schedulers
from ssdlab.referee.reproduce.pictures import Line
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results

SERVER, CONSUMER = "intel-dc-s3700-800gb", "intel-x25-m-g2-80gb"
EBOOK = "Thomas-Krenn, High Performance Solid State Drives in servers"
DEPTHS = (1, 2, 4, 8, 16, 32)
READS_PERCENT = (65, 50, 0)
_IDE = (("link.protocol", "sata-ide"), ("link.queue_depth", "1"))
_SOME: dict[str, Value] = {"io_size": "1%", "norandommap": True}
_ORDERED = "writes in order"


def _depth(depth: int) -> str:
    return f"depth {depth}"


def _mix(reads: int) -> str:
    return f"{reads} % reads"


def _amount(reads: int) -> dict[str, Value]:
    """Return what is written: of writes alone more than a small drive has free blocks for."""
    return _SOME if reads else {**_SOME, "io_size": "20%"}


def _drive(drive: str, name: str, settings: Settings = ()) -> Experiment:
    depths = [
        section(_depth(each), rw="randread", bs="4k", iodepth=each, **_SOME) for each in DEPTHS
    ]
    mixes = [
        section(_mix(each), rw="randrw", rwmixread=each, bs="4k", iodepth=32, **_amount(each))
        for each in READS_PERCENT
    ]
    order = [section(f"{rw} 4k", rw=rw, bs="4k", iodepth=1, **_SOME) for rw in ("read", "randread")]
    # The seasoning takes the first job that writes: uniform writes at the end of the mixes.
    wear = section("wear", rw="randwrite", bs="4k", iodepth=32, io_size="5%", norandommap=True)
    ordered = section(_ORDERED, rw="write", bs="4k", iodepth=32, io_size="20%")
    jobs = story(*depths, *order, wear, *mixes, ordered)
    return Experiment(name, drive, jobs, BY_JOB, settings=settings)


def experiments(scale: Scale) -> list[Experiment]:
    """Return a server's drive, a consumer's, and the latter without NCQ."""
    return [
        _drive(SERVER, "server"),
        _drive(CONSUMER, "consumer"),
        _drive(CONSUMER, "consumer, IDE", _IDE),
        *schedulers.experiments(),
    ]


def _reads_over_writes(results: Results, name: str) -> float:
    return _reads(results, name) / results.iops(name, _mix(0))


def _reads(results: Results, name: str) -> float:
    """Return random reads at depth 32, before writes leave anything to be collected."""
    return results.iops(name, _depth(32))


def _deep(results: Results, name: str) -> float:
    return results.iops(name, _depth(32)) / results.iops(name, _depth(1))


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    iops = [results.iops("server", _depth(each)) for each in DEPTHS]
    latencies = [results.mean_us("server", _depth(each)) for each in DEPTHS]
    server, consumer = (_reads_over_writes(results, each) for each in ("server", "consumer"))
    low, high = (
        documents.figure("thomas-krenn", f"ssd_latency_{each}") for each in ("low", "high")
    )
    shallow = latencies[DEPTHS.index(8)] / 1e3
    ordered, jumping = (results.iops("consumer", f"{rw} 4k") for rw in ("read", "randread"))
    in_order, scattered = (results.iops("consumer", each) for each in (_ORDERED, _mix(0)))
    ncq, ide = _deep(results, "consumer"), _deep(results, "consumer, IDE")
    fitted = "The reads are what the profile is fitted to, so the pair is not judged."
    return [
        judging.shape(
            "depth raises IOPS and mean latency together",
            EBOOK,
            "p. 15",
            "both grow with the queue",
            f"depth 1 to 32: × {iops[-1] / iops[0]:.1f} and × {latencies[-1] / latencies[0]:.1f}",
            # At the controller's limit the last depths differ by the ends of the runs only.
            all(after >= 0.999 * before for before, after in pairwise(iops))
            and latencies == sorted(latencies),
        ),
        judging.shape(
            "reads beat writes, more so on a consumer's drive",
            EBOOK,
            "p. 15",
            "a large difference in consumers' drives, less in servers'",
            f"× {consumer:.1f} and × {server:.1f}",
            consumer > server > 1,
        ),
        judging.shape(
            "random access lowers what sequential gives",
            EBOOK,
            "p. 15",
            "fewer IOPS the more random",
            f"4 KiB writes of a used drive: {text.count(in_order)} and {text.count(scattered)} "
            f"IOPS; reads at depth 1: {text.count(ordered)} and {text.count(jumping)}",
            scattered < in_order * 0.99 and jumping <= ordered * 1.01,
            reason=(
                "Of reads it does not hold here: the model has no read-ahead. The writes were "
                "added when that had been seen."
            ),
        ),
        judging.shape(
            "NCQ keeps the drive busy, IDE does not",
            EBOOK,
            "p. 9",
            "more commands at once, more speed",
            f"depth 32 against 1: × {ncq:.1f} with NCQ, × {ide:.1f} with IDE",
            ncq > 1.5 > ide,
        ),
        judging.shape(
            "mean latency of an SSD",
            EBOOK,
            "p. 15",
            f"{low} to {high}",
            f"{text.duration(1e3 * latencies[0])} at depth 1, {text.significant(shallow)} ms at 8",
            low.value <= shallow <= high.value,
        ),
        *schedulers.rows(results),
        judging.shown(
            "random I/O of SSDs, tens of thousands: more than",
            documents.figure("thomas-krenn", "ssd_random"),
            ", ".join(
                f"{name}: reads {text.count(_reads(results, name))}, writes "
                f"{text.count(results.iops(name, _mix(0)))}"
                for name in ("server", "consumer")
            )
            + " IOPS",
            reason=f"{fitted} Writes are in steady state.",
        ),
        judging.shown(
            "DC S3700 800 GB, random reads",
            documents.figure("thomas-krenn", "s3700_random_read"),
            f"{text.count(_reads(results, 'server'))} IOPS",
            reason=fitted,
        ),
        judging.shown(
            "DC S3700 800 GB, random writes in steady state",
            documents.figure("thomas-krenn", "s3700_random_write"),
            f"{text.count(results.iops('server', _mix(0)))} IOPS",
            reason="The controller's time for a move is fitted to it, so it is not judged.",
        ),
    ]


def picture(results: Results) -> str:
    """Draw IOPS over depth, and over the mix, as shares of each drive's most."""

    def by_depth(name: str) -> list[tuple[float, float]]:
        return [(each, results.iops(name, _depth(each)) / 1e3) for each in DEPTHS]

    labels = ("outstanding requests", "4 KiB random reads, 1000 IOPS")
    drawn = [
        Line("server's drive, NCQ", by_depth("server"), 0),
        Line("consumer's, NCQ", by_depth("consumer"), 1),
        Line("consumer's, IDE", by_depth("consumer, IDE"), 1, dashed=True),
    ]
    return pictures.lines(
        "queueing", "reads by queue depth", labels, [("", drawn, [])], logarithmic=True
    )


def finding(results: Results) -> str:
    """Say what depth and mix are worth."""
    gain = results.iops("server", _depth(8)) / results.iops("server", _depth(1))
    rest = results.iops("server", _depth(32)) / results.iops("server", _depth(8))
    half = {
        name: results.iops(name, _mix(50)) / _reads(results, name)
        for name in ("server", "consumer")
    }
    return (
        f"Depth is worth × {gain:.1f} up to 8 and × {rest:.1f} from there to 32, where only "
        "latency grows; in IDE mode all of it is lost. A mix of half writes leaves "
        f"{text.percent(half['server'], 0)} of the reads' IOPS on the server's drive and "
        f"{text.percent(half['consumer'], 0)} on the consumer's."
    )


QUESTION = Question(
    number=8,
    name="queueing",
    title="What do depth, mix, NCQ and scheduler do?",
    said=(
        (
            "Thomas-Krenn, p. 9",
            "AHCI brings NCQ: the drive is handed several requests at once and stays busy.",
        ),
        (
            "Thomas-Krenn, p. 15",
            "A deeper queue gives more IOPS and a longer mean latency; writes are slower than "
            "reads, most on consumers' drives; random order lowers what sequential gives.",
        ),
        ("Stapelberg", "The scheduler noop, since there is no arm to save ways."),
        ("Thomas-Krenn, p. 22", "The scheduler deadline."),
    ),
    experiments=experiments,
    rows=rows,
    picture=picture,
    caption=(
        "Random reads by queue depth; dashed: the same drive in IDE mode, one command at a time."
    ),
    mechanism=(
        "A request keeps one die busy; more requests find more dies idle, until controller or "
        "link are the limit, and further ones only wait: then latency is depth / IOPS. Writes "
        "cost programs and, in steady state, moves; little spare area makes them the slower."
    ),
    finding=finding,
    seconds=6,
    stand_ins=(
        "Schedulers: a job of random reads, 8 outstanding, beside one of random writes, 64; "
        "31 requests at once go down to the SSD, one to the hard disk, as without NCQ.",
    ),
)
