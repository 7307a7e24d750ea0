"""What encryption costs: processor time by size of request, and a drive that is full for ever.

CrystalDiskMark's three sizes, one request at a time, on a machine whose cipher was measured and on
one with the same processor core at a higher clock.
"""

from __future__ import annotations

from dataclasses import replace

from ssdlab.engine.conditions import BY_JOB
from ssdlab.experiment.experiment import Experiment, Value, section, story
from ssdlab.experiment.scale import Scale
from ssdlab.ground import documents, text
from ssdlab.ground.documents import Stated
from ssdlab.referee.reproduce import judging, pictures
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.pictures import Bar
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results

DRIVE = "intel-x25-m-g2-160gb"
BLOG = "Media-Addicted, posts on SSDs"
SIZES: dict[str, dict[str, Value]] = {
    "4 KiB random": {"bs": "4k", "io_size": "16m"},
    "512 KiB random": {"bs": "512k", "io_size": "256m"},
    "sequential": {"bs": "1m", "io_size": "256m"},
}
NOTEBOOK_MB_PER_S, CLOCK_RATIO, CORES = 145.0, 3.6 / 2.1, 2
MACHINES = {"desktop": NOTEBOOK_MB_PER_S * CLOCK_RATIO, "notebook": NOTEBOOK_MB_PER_S}
"""AES of the whole processor: the notebook's as measured, the desktop's by its clock."""
FILLED, SPARE, DISCARDS, PLAIN = (
    "encrypted",
    "encrypted, 25 % unpartitioned",
    "encrypted, discards pass",
    "not encrypted",
)
_SMALL = "intel-x25-m-g2-80gb"
_DEEP = "4 KiB random read, 32 outstanding"
_HELD = 0.6
"""Share of the partition that files hold."""


def _crypt(machine: str) -> str:
    return f"crypt:mb_per_s={MACHINES[machine] / CORES:.1f},cores={CORES},driver=truecrypt"


def _benchmark(name: str, layers: tuple[str, ...]) -> Experiment:
    def one(size: str, direction: str) -> str:
        order = direction if size == "sequential" else f"rand{direction}"
        return section(f"{size} {direction}", rw=order, iodepth=1, size="2g", **SIZES[size])

    deep = section(_DEEP, rw="randread", iodepth=32, size="2g", bs="4k", io_size="64m")
    job = story(*(one(size, direction) for direction in ("read", "write") for size in SIZES), deep)
    return Experiment(name, DRIVE, job, layers=layers)


def _in_use(name: str, held: float, layers: tuple[str, ...]) -> Experiment:
    """Random writes in steady state to the share that files hold."""
    load: dict[str, Value] = {"bs": "4k", "iodepth": 16, "norandommap": True, "io_size": "20%"}
    job = section("writes", rw="randwrite", size=f"{held * 100:.0f}%", **load)
    return Experiment(name, _SMALL, job, BY_JOB, held, layers=layers)


def experiments(scale: Scale) -> list[Experiment]:
    """Return the benchmark on both machines, and a drive in long use four ways."""
    return [
        _benchmark("none", ()),
        *(_benchmark(machine, (_crypt(machine),)) for machine in MACHINES),
        _in_use(PLAIN, _HELD, ()),
        _in_use(FILLED, _HELD, ("crypt:fill=true",)),
        _in_use(SPARE, _HELD / 0.75, ("partition:share=0.75,start_sector=0", "crypt:fill=true")),
        _in_use(DISCARDS, _HELD, ("crypt:discards=true",)),
    ]


def _left(results: Results, machine: str, size: str, direction: str = "read") -> float:
    job = f"{size} {direction}"
    return results.mb_per_s(machine, job) / results.mb_per_s("none", job)


def _writes(results: Results, name: str) -> float:
    return results.iops(name, "writes") / results.iops(PLAIN, "writes")


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    loss = documents.figure("media-addicted", "desktop_worst_loss")
    stated = Stated(
        1 - loss.value, f"{loss} lost = {1 - loss.value:.2f}", loss.document, loss.place
    )
    left = {machine: [_left(results, machine, size) for size in SIZES] for machine in MACHINES}
    shown = {
        machine: ", ".join(text.percent(each, 0) for each in left[machine]) for machine in left
    }
    reads, writes = (
        results.mb_per_s("notebook", f"4 KiB random {each}") for each in ("read", "write")
    )
    return [
        judging.judged(
            "desktop, 4 KiB random reads, encrypted against not",
            stated,
            left["desktop"][0],
            judging.FIRMWARE,
            decided_by=("crypt.driver", "crypt.mb_per_s", "crypt.request_us"),
            reason=(
                "The cipher accounts for a small part of such a loss; most of it is the driver's "
                "second read behind each. The time per request besides is dm-crypt's."
            ),
        ),
        judging.judged(
            "desktop, 4 KiB random reads, if 32 were outstanding",
            stated,
            results.mb_per_s("desktop", _DEEP) / results.mb_per_s("none", _DEEP),
            judging.FIRMWARE,
            uncounted=judging.WHAT_IF,
            decided_by=("crypt.driver", "crypt.mb_per_s", "crypt.request_us"),
            reason=(
                "The blog does not say how many requests its benchmark kept outstanding. With "
                "many, the driver's one thread takes them in turn, and the drive has one at a time."
            ),
        ),
        judging.shape(
            "desktop: the smaller the random reads, the more they suffer",
            BLOG,
            "post of 11 January 2010, desktop",
            "most at 4 KiB",
            f"left of 4 KiB, 512 KiB, sequential: {shown['desktop']}",
            left["desktop"][0] == min(left["desktop"]),
            reason=(
                "What is read ahead in vain costs a small read its whole time again, a large one "
                "half."
            ),
        ),
        judging.shape(
            "notebook: large and sequential transfers suffer most",
            BLOG,
            "post of 11 January 2010, notebook",
            "the processor's 145 MB/s limit them",
            f"left of 4 KiB, 512 KiB, sequential: {shown['notebook']}",
            left["notebook"][0] == max(left["notebook"]),
            reason=(
                "The slow cipher works while the drive reads ahead, so small reads lose as much as "
                "on the desktop, and what is read ahead helps in sequence. That the blog's small "
                "reads lost less is not explained."
            ),
        ),
        judging.shown(
            "notebook, 4 KiB random reads, encrypted",
            documents.figure("media-addicted", "notebook_random_read"),
            f"{text.significant(reads)} MB/s",
        ),
        judging.shown(
            "notebook, 4 KiB random writes, encrypted",
            documents.figure("media-addicted", "notebook_random_write"),
            f"{text.significant(writes)} MB/s",
        ),
        judging.shape(
            "a fully encrypted drive is a full drive; spare area or discards help",
            BLOG,
            "posts of 11 January 2010 and 5 December 2012",
            "an encrypted drive slows down; 25 % unassigned help",
            f"of the plain drive's random writes: {text.percent(_writes(results, FILLED), 0)}; "
            f"25 % outside: {text.percent(_writes(results, SPARE), 0)}; "
            f"discards: {text.percent(_writes(results, DISCARDS), 0)}",
            _writes(results, FILLED)
            < 0.85 * min(_writes(results, SPARE), _writes(results, DISCARDS)),
        ),
    ]


def picture(results: Results) -> str:
    """Draw what is left by machine and size, and of a drive in long use."""
    panels = []
    for colour, machine in enumerate(MACHINES):
        group = [
            Bar(size.replace(" random", "\nrandom"), _left(results, machine, size), colour)
            for size in SIZES
        ]
        panels.append((f"{machine}, reads", group))
    stated = 1 - documents.figure("media-addicted", "desktop_worst_loss").value
    panels[0][1][0] = replace(panels[0][1][0], theirs=stated)
    use = {FILLED: "as it is", SPARE: "25 %\noutside", DISCARDS: "discards\npass"}
    group = [Bar(label, _writes(results, name), 2) for name, label in use.items()]
    panels.append(("in long use, random writes", group))
    title, unit = "what encryption leaves", "share of not encrypted"
    return pictures.bars("encryption", title, unit, panels, pictures.percent)


def finding(results: Results) -> str:
    """Say what encryption costs, and when."""
    slow, small = (
        _left(results, "notebook", "sequential"),
        _left(results, "notebook", "4 KiB random"),
    )
    return (
        "Encryption costs the processor time for the bytes: at 145 MB/s, "
        f"{text.percent(slow, 0)} of sequential reads is left and {text.percent(small, 0)} of "
        "small random ones. The lasting cost is the filled drive: "
        f"{text.percent(_writes(results, FILLED), 0)} of the random writes of one that trims, "
        f"until a quarter is left outside ({text.percent(_writes(results, SPARE), 0)}) or "
        f"discards pass ({text.percent(_writes(results, DISCARDS), 0)})."
    )


QUESTION = Question(
    number=5,
    name="encryption",
    title="What does encryption cost?",
    said=(
        ("Media-Addicted, desktop", "4 KiB random reads lose most, up to 58 %."),
        (
            "Media-Addicted, notebook",
            "Large and sequential transfers lose most; the processor does 145 MB/s.",
        ),
        ("Media-Addicted", "TRIM may not get through; a fully encrypted drive is a full drive."),
        ("Stapelberg", "The data rate drops with dm-crypt; everyday work hardly notices."),
    ),
    experiments=experiments,
    rows=rows,
    picture=picture,
    caption=(
        "Speed with encryption as a share of that without; right: a drive in long use, files "
        "hold 60 %."
    ),
    mechanism=(
        "A request waits for the cipher: its bytes over the processor's rate, and a fixed time. "
        "Large requests are mostly bytes, so a slow processor limits them; small ones are "
        "mostly the drive's latency. TrueCrypt's driver has one thread that sends one request "
        "after the other to the drive, and reads as much again after each read: this helps "
        "sequential reads, but a random read waits for a useless read-ahead. Setting up "
        "encryption fills the drive with random data, and if discards do not pass, all of it "
        "stays valid for ever: the drive has only its own spare area."
    ),
    finding=finding,
    seconds=3,
    stand_ins=(
        "TrueCrypt 6.3a: threads, fragments and read-ahead as in its driver's source; processor "
        "time a byte as its own benchmark measured it on two cores; time a request as published of "
        "dm-crypt. The desktop's cipher: the notebook's, by clock.",
        "CrystalDiskMark: 4 KiB, 512 KiB and 1 MiB, one request at a time, within 2 GiB.",
    ),
)
