"""``sizing`` in short: closed forms, slices of drives, the order of the search, what is told."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

import ssdlab.cli.sizing
from ssdlab.cli.sizing import exit_code
from ssdlab.engine.endurance import DAYS_PER_YEAR
from ssdlab.experiment.parallel import Task
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit
from ssdlab.study.sizing import answer, search
from ssdlab.study.sizing.candidate import SINGLE, Candidate, layout, sheet
from ssdlab.study.sizing.closed_form import clearly_keeps, ruled_out
from ssdlab.study.sizing.load import HostLoad, Limits
from ssdlab.study.sizing.ratings import known, read_ratings
from ssdlab.study.sizing.search import Asked
from ssdlab.study.sizing.simulate import LoadFigures, simulate
from ssdlab.study.sizing.slices import blocks_of, parts_of
from ssdlab.study.sizing.verdict import CandidateVerdict, by_run, impossible

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
ALONE = layout(SINGLE)
S3500, LARGER = "intel-dc-s3500-80gb", "intel-dc-s3500-480gb"
MIXED = HostLoad(iops=3000, read_share=0.7, block_bytes=4096, bytes_per_day=200e9)
FIGURES = LoadFigures(6000, 3000, 500_000, 500_000, 2.0, 2.0, 1e13, 3000, "scale model")


def _progress(_phase: str, _share: float) -> bool:
    return True


@pytest.mark.parametrize(
    ("drive", "parts"),
    [
        ("theory", 1),  # 4.2 million units
        (S3500, 2),  # 8 dies of 2.4 million
        ("micron-7450-pro-960gb", 16),  # 64 dies of 3.7 million
        ("samsung-870-qvo-1tb", 16),  # 16 dies of 15.3 million: one is all that fits
        ("solidigm-d5-p5336-15tb", 96),  # 96 dies of 9.8 million units of 16 KiB
    ],
)
def test_what_part_of_a_drive_is_run(drive: str, parts: int) -> None:
    """By hand: four dies, or as many as have 2^24 units; of arrays and jobs the whole."""
    assert parts_of(Candidate(drive, 0.0, ALONE), MIXED) == parts
    array = Candidate(drive, 0.0, layout("raid:level=1,disks=2"))
    assert parts_of(array, MIXED) == parts_of(array, replace(MIXED, job="[a]")) == 1


def test_a_slice_has_the_figures_of_its_drive() -> None:
    """Of the S3500: WA, IOPS and reads within 2 %; years of all its flash.

    Writes wait for link and controller, which a slice asks for half as often: 41 µs for 46.
    """
    alone = Candidate(S3500, 0.0, ALONE)
    part = simulate(alone, MIXED, 1, _progress)
    whole = simulate(alone, MIXED, 1, _progress, exact=True)
    assert (part.way, whole.way) == ("4 of 8 dies", "scale model")
    assert part.write_amplification == pytest.approx(whole.write_amplification, rel=0.01)
    assert part.iops == pytest.approx(whole.iops, rel=0.02)
    assert part.rate == pytest.approx(3000, rel=0.02)
    assert part.read_p99_ns == pytest.approx(whole.read_p99_ns, rel=0.02)
    assert part.write_p99_ns == pytest.approx(whole.write_p99_ns, rel=0.25)
    assert part.years(20e9) == pytest.approx(whole.years(20e9), rel=0.01)


def test_a_rate_that_slices_round_is_kept() -> None:
    """Of five requests a second a slice of two is asked for 1 and 1 in place of 1.25 and 1.25."""
    few = replace(MIXED, iops=5.0, read_share=0.5)
    found = simulate(Candidate(S3500, 0.0, ALONE), few, 1, _progress)
    assert found.way == "4 of 8 dies"
    assert found.rate == pytest.approx(5, rel=0.02)


def test_a_job_runs_on_fewer_blocks_of_every_die() -> None:
    """Of the S3500, a fifth unused: WA, IOPS, writes and the years of all its flash."""
    job = "[a]\nrw=randwrite\nbs=4k\niodepth=16\nnorandommap\n"
    load = HostLoad(None, 0.0, 0, 200e9, job=job, stationary=True, scales=True)
    candidate = Candidate(S3500, 0.2, ALONE)
    part = simulate(candidate, load, 1, _progress)
    whole = simulate(candidate, load, 1, _progress, exact=True)
    assert (part.way, whole.way) == ("53.7 % of the blocks", "scale model")
    assert part.write_amplification == pytest.approx(whole.write_amplification, rel=0.02)
    assert part.iops == pytest.approx(whole.iops, rel=0.02)
    assert part.write_p99_ns == pytest.approx(whole.write_p99_ns, rel=0.05)
    assert part.flash_bytes == pytest.approx(whole.flash_bytes)
    assert part.years(200e9) == pytest.approx(whole.years(200e9), rel=0.02)


def test_which_jobs_run_on_fewer_blocks() -> None:
    """By hand: 2^23 units of 234 million, but no fewer than 64 blocks a die."""
    alike = replace(MIXED, job="[a]", stationary=True, scales=True)
    facts = sheet("samsung-pm9a3-960gb")
    a_die = facts.capacity_bytes / facts.unit_bytes / facts.units_a_block / facts.dies
    assert blocks_of(Candidate("samsung-pm9a3-960gb", 0.0, ALONE), alike) == 64 / a_die
    of_qvo = blocks_of(Candidate("samsung-870-qvo-1tb", 0.0, ALONE), alike)
    assert of_qvo == pytest.approx(2**23 * 4096 / 1e12, rel=0.001)
    for other in (MIXED, replace(alike, stationary=False), replace(alike, scales=False)):
        assert blocks_of(Candidate("samsung-870-qvo-1tb", 0.0, ALONE), other) == 1


def test_the_link_bounds_slices() -> None:
    """Reads in order of the S3500 take its whole link: two slices do not get two links."""
    load = HostLoad(
        iops=100, read_share=0.9, block_bytes=1 << 17, bytes_per_day=1e9, sequential=True
    )
    found = simulate(Candidate(S3500, 0.0, ALONE), load, 1, _progress)
    link = sheet(S3500).link_bytes_per_s / (0.9 * (1 << 17))
    assert 0.8 * link < found.iops <= link


def test_the_warranty_by_hand() -> None:
    """275 TB at 200 GB a day are 3.76 years: ruled out for five, whatever the cells take."""
    rating = known()[LARGER]
    assert 275e12 / 200e9 / DAYS_PER_YEAR == pytest.approx(3.76, abs=0.01)
    candidate = Candidate(LARGER, 0.3, ALONE)
    assert ruled_out(candidate, MIXED, Limits(years=5), rating) == ("warranty",)
    assert ruled_out(candidate, MIXED, Limits(years=3.7), rating) == ()
    assert ruled_out(candidate, MIXED, Limits(years=5)) == ()
    mirrors = Candidate(LARGER, 0.3, layout("raid:level=0,disks=2"))
    assert ruled_out(mirrors, MIXED, Limits(years=5), rating) == ()


def test_ratings_that_are_given() -> None:
    """The user's own goes before; of several drives each has to be named."""
    given = read_ratings(["1PB"], [S3500])[S3500]
    assert (given.bytes_written, given.kind) == (1e15, "given")
    found = read_ratings([f"{S3500}=50TB"], [S3500, LARGER])
    assert [found[each].bytes_written for each in (S3500, LARGER)] == [50e12, 275e12]
    with pytest.raises(SsdlabError, match="which of 2 drives"):
        read_ratings(["1PB"], [S3500, LARGER])
    with pytest.raises(SsdlabError, match="theory is not considered"):
        read_ratings(["theory=1PB"], [S3500])


def test_every_rating_is_of_a_profile() -> None:
    """Each has a drive, a kind and a source; what is from memory is called assumed."""
    for name, rating in known().items():
        assert sheet(name).capacity_bytes > 0
        assert rating.kind in ("datasheet", "published", "assumed") and rating.source
        assert ("memory" in rating.source) == (rating.kind == "assumed")


@pytest.mark.parametrize(
    ("years", "rate", "keeps"),
    [(1.5, 3000, True), (4, 3000, False), (1.5, 40_000, False), (None, 3000, False)],
)
def test_what_clearly_keeps_the_limits(years: float | None, rate: float, keeps: bool) -> None:
    """The S3500 of 480 GB: at most 6.7 years by greedy collection, so half of that is clear."""
    load = replace(MIXED, iops=rate)
    candidate = Candidate(LARGER, 0.0, ALONE)
    assert clearly_keeps(candidate, load, Limits(years=years)) is keeps
    assert not clearly_keeps(candidate, load, Limits(years=years, read_p99_ns=1e6))


def test_closed_forms_agree_with_runs() -> None:
    """What they rule out misses the same limit when it is run, and what is clear meets."""
    alone = Candidate(S3500, 0.0, ALONE)
    found = simulate(alone, MIXED, 1, _progress)
    for limits in (Limits(years=5), Limits(years=0.25)):
        run = by_run(alone, MIXED, limits, found, 1)
        missed = ruled_out(alone, MIXED, limits)
        assert (missed == run.limited_by) is not run.meets
        assert clearly_keeps(alone, MIXED, limits) is run.meets


@pytest.mark.parametrize(
    ("meets_from", "run"),
    [
        (0.0, [0.0]),
        (0.1, [0.0, 0.3, 0.1]),
        (0.3, [0.0, 0.3, 0.1, 0.2]),
        (1.0, [0.0, 0.3]),
    ],
)
def test_the_least_and_the_most_are_run_first(
    monkeypatch: pytest.MonkeyPatch, meets_from: float, run: list[float]
) -> None:
    """What the most unused misses, less misses too, and is not run; else from the least up."""
    seen: list[float] = []

    def fake(candidate: Candidate, *_words: object, **_options: object) -> LoadFigures:
        seen.append(candidate.unused)
        return FIGURES if candidate.unused >= meets_from else replace(FIGURES, read_p99_ns=2e6)

    monkeypatch.setattr(search, "simulate", fake)
    found: dict[float, CandidateVerdict] = {}
    asked = Asked(MIXED, Limits(read_p99_ns=1e6), {}, 1)

    def keep(verdict: CandidateVerdict) -> None:
        found[verdict.candidate.unused] = verdict

    shares = [0.0, 0.1, 0.2, 0.3]
    meets = search.search(asked, S3500, ALONE, shares, keep, _progress)
    assert seen == run and meets is (meets_from <= 0.3)
    assert {share for share in found if found[share].meets} >= ({meets_from} if meets else set())
    if not meets:
        assert [found[share].limited_by for share in shares] == [("tail",)] * 4
        assert found[0.1].decided_by == "30 % unused misses, too"
        assert len(answer.brief(list(found.values()))) == 1


def test_digits_tell_a_figure_from_the_limit_that_it_misses() -> None:
    """1.004 ms is not 1 ms, and 0.998 of the IOPS is not all of them."""
    limits = Limits(read_p99_ns=1e6, years=5)
    near = replace(FIGURES, read_p99_ns=1_004_000, iops=2994, rate=2994, flash_bytes=2.43e11)
    found = by_run(Candidate(S3500, 0.0, ALONE), MIXED, limits, near, 1)
    (said,) = answer.sentences([found], MIXED, limits)
    assert "read p99 1.004 ms" in said and "0.998 × the IOPS" in said and "4.99 years" in said


def test_exit_codes() -> None:
    """0 where something meets, 3 where nothing does, 4 where something could not be judged."""
    candidate = Candidate(S3500, 0.0, ALONE)
    meets = by_run(candidate, MIXED, Limits(), FIGURES, 1)
    misses = by_run(candidate, MIXED, Limits(read_p99_ns=1), FIGURES, 1)
    unknown = impossible(candidate, MIXED, "no such drive")
    assert exit_code([meets, misses]) == Exit.DONE
    assert exit_code([misses]) == Exit.FINDING
    assert exit_code([meets, unknown]) == Exit.NOT_JUDGED
    assert exit_code([unknown]) == Exit.NOT_JUDGED
    assert exit_code([misses, unknown]) == Exit.FINDING


def test_stopped_it_has_what_was_found_and_names_the_rest(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """JSON stays whole, the drive that was not reached is named, and rows come as lines before."""

    def only_the_first(
        _labels: Sequence[str], tasks: Sequence[Task[bool]], **_options: object
    ) -> tuple[list[bool], bool]:
        return [tasks[0](_progress)], True

    monkeypatch.setattr(ssdlab.cli.sizing, "carry_out", only_the_first)
    words = ("--writes", "1TB/day", "--years", "5", "--drive", S3500, "--drive", LARGER)
    _, out, err = command("sizing", *words, "--json")
    found = json.loads(out)["sizing"]
    assert {row["drive"] for row in found["rows"]} == {S3500}
    (left,) = found["not_tried"]
    assert left["drive"] == f"{LARGER}, single" and "stopped" in left["reason"]
    assert f"{S3500}, single: misses with up to 30 % unused: wear" in err
    assert "the table has what had finished" in err


def test_all_drives_but_those_that_nobody_sells(command: Command) -> None:
    """Hard disks and the drive of the closed forms are named as not tried, with the reason."""
    code, out, err = command("sizing", "--writes", "900TB/day", "--years", "5", "--json")
    assert code == Exit.FINDING, err
    reasons = {each["drive"]: each["reason"] for each in json.loads(out)["sizing"]["not_tried"]}
    assert reasons["fujitsu-mhz2250bh"] == "a hard disk" and "theory" in reasons
    assert "closed forms decide, and nothing is run" in err
