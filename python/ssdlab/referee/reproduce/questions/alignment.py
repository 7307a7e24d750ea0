"""Whether alignment matters: partitions that begin where no unit of the drive's map does.

dd through UFS reaches the drive as clusters of 128 KiB in sequence, several at a time.
"""

from __future__ import annotations

from ssdlab.engine.conditions import BY_JOB
from ssdlab.engine.request import Settings
from ssdlab.experiment.experiment import Experiment, section, story
from ssdlab.experiment.scale import Scale
from ssdlab.ground import documents, text
from ssdlab.ground.documents import Stated
from ssdlab.referee.reproduce import judging, pictures
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.parts.forum_drives import F60, IN_SEQUENCE, VERTEX
from ssdlab.referee.reproduce.pictures import Bar
from ssdlab.referee.reproduce.provenance import Fitted
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results

UNALIGNED, ALIGNED = 63, 2048
SMALL = {
    "intel-x25-m-g2-80gb": "X25-M",
    "intel-dc-s3500-80gb": "DC S3500",
    VERTEX: "Vertex 2",
    "super-talent-ultradrive-gx-256gb": "UltraDrive GX",
}
STARTS = {
    "63": ("partition:start_sector=63",),
    "21030912": ("partition:start_sector=21030912",),
    "129024": ("partition:start_sector=129024",),
    "63, label at 1985": ("partition:start_sector=63", "partition:start_sector=1985"),
    "63, label at 1984": ("partition:start_sector=63", "partition:start_sector=1984"),
}
"""Where the partitions of the FreeBSD thread begin; a BSD label is a partition in a partition."""
RUNS = ("run 1", "run 2", "run 3")
F60_DD = "dd to the F60"
FORUM = "FreeBSD forum, SSD performance and partition alignment"
STACK = {"aligned": 2048, "not aligned": 63}
_CIPHER = "crypt:mb_per_s=100,cores=1"
_UNENCRYPTED = "stack, aligned, not encrypted"
DISK = "hitachi-deskstar-7k1000c-1tb"
"""With sectors of 4 KiB in place of its own: a disk of the study's size and time."""
_FITTED_ROW = "dd at sector 63 against 21030912, run 1"
_FITTED_RATIO = ("freebsd-forum", "start_63_run_1", "start_21030912_run_1")
_DECIDED = ("nand.program_us", "nand.read_us", "link.mb_per_s")


def _dd(start: str, which: str = "dd", settings: Settings = IN_SEQUENCE) -> Experiment:
    def run(job: str) -> str:
        return section(job, rw="write", bs="128k", iodepth=8, offset="1m", size="512m")

    trim = section("newfs -E", rw="trim", bs="1m", size="1g")
    job = story(*(run(each) for each in RUNS), trim, run("trimmed"))
    name, layers = f"{which}, {start}", STARTS[start]
    return Experiment(name, VERTEX, job, settings=settings, layers=layers, whole=True)


def _random(drive: str, start: int) -> Experiment:
    job = section("writes", rw="randwrite", bs="4k", iodepth=4, norandommap=True, io_size="20%")
    layers = (f"partition:start_sector={start}",)
    return Experiment(f"small writes, {SMALL[drive]}, {start}", drive, job, BY_JOB, layers=layers)


def _on_disk(start: int) -> Experiment:
    """Return small writes at random places of a gigabyte, as files of one folder are."""
    job = section("writes", rw="randwrite", bs="4k", norandommap=True, size="1g", number_ios=4000)
    return Experiment(
        f"small writes, disk with sectors of 4 KiB, {start}",
        DISK,
        job,
        settings=(("hdd.physical_sector_bytes", "4096"),),
        layers=(f"partition:start_sector={start}",),
        layout=False,
        whole=True,
    )


def _stacks() -> list[Experiment]:
    """LVM over dm-crypt over a partition, as in the article; the cipher at a Core 2's rate."""
    job = section("bonnie", rw="write", bs="128k", iodepth=4, size="1g")
    layers: dict[str, tuple[str, ...]] = {
        f"stack, {name}": (
            f"partition:start_sector={start}",
            _CIPHER,
            f"partition:start_sector={512 if name == 'aligned' else 384 + 1}",
        )
        for name, start in STACK.items()
    }
    layers[_UNENCRYPTED] = tuple(each for each in layers["stack, aligned"] if each != _CIPHER)
    drive = "super-talent-ultradrive-gx-256gb"
    return [Experiment(name, drive, job, layers=each) for name, each in layers.items()]


def experiments(scale: Scale) -> list[Experiment]:
    """Return small random writes on four drives and a disk, dd on the forum's partitions, LVM."""
    return [
        *(_random(drive, start) for drive in SMALL for start in (UNALIGNED, ALIGNED)),
        *(_on_disk(start) for start in (UNALIGNED, ALIGNED)),
        *(_dd(start) for start in STARTS),
        *(_dd(start, F60_DD, (*F60, *IN_SEQUENCE)) for start in ("63", "21030912")),
        *_stacks(),
    ]


def _small(results: Results, drive: str) -> float:
    unaligned, aligned = (
        results.iops(f"small writes, {SMALL[drive]}, {start}", "writes")
        for start in (UNALIGNED, ALIGNED)
    )
    return unaligned / aligned


def _slower_on_disk(results: Results) -> float:
    unaligned, aligned = (
        results.iops(f"small writes, disk with sectors of 4 KiB, {start}", "writes")
        for start in (UNALIGNED, ALIGNED)
    )
    return aligned / unaligned


def _disk_row(results: Results) -> JudgedRow:
    return judging.judged(
        "small writes at sector 2048 against 63, disk with sectors of 4 KiB",
        documents.ratio("thomas-krenn", "misaligned_small_writes"),
        _slower_on_disk(results),
        judging.FIRMWARE,
        uncounted=judging.AFTERWARDS,
        decided_by=("hdd.physical_sector_bytes", "hdd.rpm", "hdd.cached_writes"),
        profile=DISK,
        reason=(
            "The model reads both sectors and waits for a revolution before it writes them, where "
            "an aligned write waits in the cache for a near one. The study's 25 is its largest "
            "figure; which writes and flushes these were is not known. Here they go to random "
            "places of a gigabyte; over 32 MB the factor is 7, over the whole disk 2.6, and with a "
            "flush after each write 2.3."
        ),
    )


def _large(results: Results, start: str, run: str, which: str = "dd") -> float:
    return results.mb_per_s(f"{which}, {start}", run) / results.mb_per_s(f"{which}, 21030912", run)


def _dd_rows(results: Results) -> list[JudgedRow]:
    reason = (
        "A unit that two requests share is programmed for each of them, completed by a read; the "
        "first run finds trimmed space, later ones read what each unit held. That the buffer joins "
        "nothing, and units of 32 KiB, were chosen by run 1: 0.85 with 16 KiB, 0.92 with 8, 0.96 "
        "with 4, and 1.00 where the buffer joins. How this controller treats partial units is not "
        "published."
    )
    pairs = [
        (f"dd at sector 63 against 21030912, run {number}", "63", run, f"start_63_run_{number}",
         f"start_21030912_run_{number}")
        for number, run in enumerate(RUNS, 1)
    ]  # fmt: skip
    pairs += [
        ("the same after newfs -E", "63", "trimmed", "start_63_trimmed", "start_21030912_trimmed"),
        ("dd at 129024 against 21030912", "129024", "run 3", "start_129024",
         "start_21030912_run_3"),
        ("dd at label 1985 against 21030912", "63, label at 1985", "run 3", "label_1985",
         "start_21030912_run_3"),
        ("dd at label 1984, one sector off", "63, label at 1984", "run 1", "label_1984",
         "start_21030912_run_3"),
    ]  # fmt: skip
    return [
        judging.judged(
            condition,
            documents.ratio("freebsd-forum", one, other),
            _large(results, start, run),
            judging.FIRMWARE if start.endswith(("63", "1984")) else judging.MECHANISM,
            uncounted=judging.FITTED_TO if condition == _FITTED_ROW else "",
            decided_by=_DECIDED,
            profile=VERTEX,
            reason=reason if start.endswith(("63", "1984")) else "",
        )
        for condition, start, run, one, other in pairs
    ]


def rows(results: Results) -> list[JudgedRow]:
    """Return what is compared."""
    x25 = "intel-x25-m-g2-80gb"
    first, last, trimmed = (
        results.mb_per_s("dd, 63", job) for job in ("run 1", "run 3", "trimmed")
    )
    stack = [results.mb_per_s(f"stack, {name}", "bonnie") for name in STACK]
    plain = results.mb_per_s(_UNENCRYPTED, "bonnie")
    alike, dropped = (
        documents.figure("stapelberg", f"bonnie_{each}") for each in ("aligned", "encrypted")
    )
    loss = documents.figure("media-addicted", "misaligned_write_loss")
    half = Stated(1 - loss.value, f"{loss} lost = {1 - loss.value:.2f}", loss.document, loss.place)
    f60 = documents.figure("freebsd-forum", "f60_random_data")
    same = Stated(1.0, "62 / 62 MB/s = 1.00", f60.document, f60.place)
    return [
        judging.judged(
            "4 KiB random writes at sector 63 against 2048, X25-M",
            half,
            _small(results, x25),
            judging.MECHANISM,
            decided_by=("ftl.mapping_unit_bytes", "nand.read_us", "over_provisioning"),
            profile=x25,
        ),
        judging.judged(
            "small writes at sector 2048 against 63",
            documents.ratio("thomas-krenn", "misaligned_small_writes"),
            1 / _small(results, x25),
            judging.FIRMWARE,
            uncounted=judging.OTHER_MATTER,
            decided_by=("ftl.mapping_unit_bytes",),
            profile=x25,
            reason=(
                "The study is of hard disks with 4 KiB sectors, which wait for a "
                "revolution between reading and writing a sector. An SSD does not; the disk "
                "has rows of its own."
            ),
        ),
        _disk_row(results),
        *_dd_rows(results),
        judging.judged(
            "dd of random data at sector 63 against aligned, another drive of this controller",
            same,
            _large(results, "63", "run 1", which=F60_DD),
            judging.MECHANISM,
            decided_by=_DECIDED,
            profile=VERTEX,
            reason=(
                "The forum's two drives of one controller disagree. The model's units are those "
                "that the first one's dd asks for."
            ),
        ),
        judging.shape(
            "unaligned, dd loses speed from run to run, and TRIM gives the first run's back",
            FORUM,
            "first post",
            "94, 83, 80 MB/s; 91 after TRIM",
            f"{first:.0f}, …, {last:.0f} MB/s; {trimmed:.0f} after TRIM",
            last < 0.95 * first and trimmed > 1.05 * last,
            reason="The first run reads nothing of what its units held, since nothing was there.",
        ),
        judging.shape(
            "aligned or not makes no difference through LVM and dm-crypt",
            alike.document,
            alike.place,
            "within the error of measurement",
            f"{stack[0]:.0f} and {stack[1]:.0f} MB/s on a fresh drive, in sequence",
            abs(stack[0] / stack[1] - alike.value) <= 0.05,
        ),
        judging.shape(
            "dm-crypt lowers the data rate",
            dropped.document,
            dropped.place,
            "much",
            f"{plain:.0f} to {stack[0]:.0f} MB/s on a fresh drive, in sequence",
            stack[0] / plain < dropped.value - judging.MECHANISM,
            reason="The cipher's rate is assumed, of a Core 2 at 2.26 GHz.",
        ),
    ]


def picture(results: Results) -> str:
    """Draw small and large writes at sector 63 as shares of the aligned ones."""
    small = [
        Bar(name, _small(results, drive), 1, 0.5 if name == "X25-M" else None)
        for drive, name in SMALL.items()
    ]
    large = [
        Bar(
            label,
            _large(results, start, run),
            0,
            documents.ratio("freebsd-forum", one, f"start_21030912_{base}").value,
        )
        for label, start, run, one, base in (
            ("63,\nrun 1", "63", "run 1", "start_63_run_1", "run_1"),
            ("63,\nrun 3", "63", "run 3", "start_63_run_3", "run_3"),
            ("63,\ntrimmed", "63", "trimmed", "start_63_trimmed", "trimmed"),
            ("129024", "129024", "run 3", "start_129024", "run_3"),
        )
    ]
    panels = [("4 KiB random writes, sector 63", small), ("dd to a Vertex 2, by start", large)]
    title, unit = "writes by alignment", "share of the aligned partition's speed"
    return pictures.bars("alignment", title, unit, panels, pictures.percent)


def finding(results: Results) -> str:
    """Say when alignment matters."""
    shares = [_small(results, drive) for drive in SMALL]
    large = _large(results, "63", "run 1")
    later = _large(results, "63", "run 3")
    return (
        f"Alignment matters for small random writes: at sector 63 they keep "
        f"{text.percent(min(shares), 0)} to {text.percent(max(shares), 0)} of their speed, least "
        f"where the map's unit is as large as the write. Large sequential ones keep theirs where a "
        f"write buffer joins what two requests share of a unit; where none does, "
        f"{text.percent(large, 0)} on trimmed space and {text.percent(later, 0)} later, with the "
        "units that the forum's first run asks for. "
        "Starting at 2048 costs nothing."
    )


QUESTION = Question(
    number=4,
    name="alignment",
    title="Does alignment matter?",
    said=(
        ("Media-Addicted", "A misaligned partition writes at half speed and wears the drive."),
        ("Thomas-Krenn, p. 11", "Small writes up to 25 times slower, of a study of hard disks."),
        (
            "FreeBSD forum",
            "dd a quarter slower, and slower each time; TRIM helps; on a Corsair F60, with the "
            "same controller, no difference.",
        ),
        ("Stapelberg", "Through LVM and dm-crypt no difference beyond the error of measurement."),
    ),
    experiments=experiments,
    rows=rows,
    picture=picture,
    caption="Speed on a partition at sector 63 as a share of that on an aligned one.",
    mechanism=(
        "A 4 KiB write that straddles two units of the map makes the drive read both and program "
        "both: half the speed. A sequential stream straddles only at the ends of its requests. A "
        "write buffer that joins has the rest from the next request; one that joins nothing has "
        "each shared unit programmed twice, and read in between."
    ),
    finding=finding,
    seconds=23,
    stand_ins=(
        "dd to UFS: 512 MiB in requests of 128 KiB, the size of its clusters, eight at a time.",
        "The stack of the article: a partition, encryption at 100 MB/s (assumed, Core 2 at 2.26 "
        "GHz), a volume behind metadata of 192.5 or 256 KiB.",
    ),
    fitted=[
        Fitted(
            "Vertex 2 in sequence",
            ", ".join(key for key, _ in IN_SEQUENCE),
            ", ".join(value for _, value in IN_SEQUENCE),
            f"to {documents.ratio(*_FITTED_RATIO)}, run 1",
        )
    ],
)
