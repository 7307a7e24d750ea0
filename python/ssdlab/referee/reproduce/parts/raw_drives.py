"""Hard disk and SSD by themselves, without a file system: places found, and rates in sequence."""

from __future__ import annotations

from ssdlab.ground import documents, text
from ssdlab.referee.reproduce import judging
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.results import Results

_RANDOM, _SEQUENTIAL = "random read", "sequential read"


def rows(results: Results, disk: str, ssd: str, servers: tuple[str, str]) -> list[JudgedRow]:
    """Return what is compared.

    Parameters
    ----------
    disk, ssd
        Experiments with both kinds of reads, of the article's drives.
    servers
        A hard disk and an SSD of the e-book.
    """
    iops = results.iops(disk, _RANDOM)
    places = [results.mean_us(name, _RANDOM) / 1e3 for name in (disk, ssd)]
    rates = [results.mb_per_s(name, _SEQUENTIAL) for name in (disk, ssd)]
    few, many = (documents.figure("media-addicted", f"hdd_iops_{end}") for end in ("low", "high"))
    slow, fast = (documents.figure("thomas-krenn", f"hdd_rate_{end}") for end in ("low", "high"))
    less, more = (
        documents.figure("thomas-krenn", f"ssd_over_hdd_rate_{end}") for end in ("low", "high")
    )
    server_rates = [results.mb_per_s(name, _SEQUENTIAL) for name in servers]
    ratio = server_rates[1] / server_rates[0]
    return [
        judging.judged(
            "random access, hard disk against SSD",
            documents.ratio("stapelberg", "hdd_access", "ssd_access"),
            places[0] / places[1],
            judging.MECHANISM,
            decided_by=("hdd.rpm", "hdd.average_seek_ms", "nand.read_us"),
            reason=(
                f"{places[0]:.1f} and {places[1]:.2f} ms: both are slower than the round figures "
                "of the article, which are of no drive in particular."
            ),
        ),
        judging.shape(
            "random reads of a hard disk",
            few.document,
            few.place,
            f"{few} to {many}",
            f"{text.count(iops)} IOPS, one at a time",
            few.value <= iops <= many.value,
        ),
        judging.shape(
            "a hard disk in sequence",
            slow.document,
            slow.place,
            f"{slow} to {fast}",
            f"{text.significant(rates[0])} MB/s",
            slow.value <= rates[0] <= fast.value,
        ),
        judging.shown(
            "a new SSD in sequence: more than",
            documents.figure("thomas-krenn", "ssd_rate"),
            f"{text.significant(rates[1])} MB/s",
            reason="The profile is fitted to a data sheet's 250 MB/s, so this is not judged.",
        ),
        judging.shape(
            "an SSD has two to three times a hard disk's throughput",
            less.document,
            less.place,
            f"{less} to {more}",
            f"× {ratio:.1f} of servers' drives; × {rates[1] / rates[0]:.1f} of the notebook's",
            less.value <= ratio <= more.value,
            reason=(
                "The e-book's SSD and the disk of its arrays here, on its outer tracks. The "
                "notebook's, which were asked first, are of another article."
            ),
        ),
    ]
