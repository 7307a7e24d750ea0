"""fio's JSON of every version is read in one form; what is not understood is told, never a 0."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fio_documents import FIO, as_version, changes, drive_job, recorded
from ssdlab.cli.results import exit_code_of
from ssdlab.engine.fio_json.keys import OUR_SCHEMAS, OURS
from ssdlab.engine.fio_json.version import version_of
from ssdlab.engine.result import Result
from ssdlab.experiment.comparison import compare
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit

Command = Callable[..., tuple[int, str, str]]
_SCHEMA = Path(__file__).parents[2] / "docs" / "result.schema.json"
_OLD = ["2.0.14", "2.1.14", "2.2.6", "2.2.10", "2.3", "2.16", "2.21", "2.99", "3.0", "3.1", "3.2"]
_OLD += ["3.4", "3.8", "3.13", "3.18", "3.33", "3.41", "3.42"]


def read(document: dict[str, Any] | str, name: str = "x.json") -> Result:
    text = document if isinstance(document, str) else json.dumps(document, indent=1)
    return Result.from_json(text, name)


@pytest.mark.parametrize(
    ("name", "direction", "iops", "bandwidth", "mean_us", "p99_us"),
    [
        # 1,073,741,824 bytes in 598 ms; no bw_bytes before 3.2
        ("3.1-buffered.json", "write", 438_367.892977, 1_795_554_889.6, 2.076404373, 6.176),
        # 37,500,272 KiB in 600,008 ms; microseconds
        ("2.2.10.json", "write", 15_624.7, 63_999_610.9, 8151.19, 8640),
        ("3.36-failed.json", "write", 1_024_000, 4_194_304_000, 0.023327148, 0.021),
    ],
)
def test_public_results_by_hand(
    name: str, direction: str, iops: float, bandwidth: float, mean_us: float, p99_us: float
) -> None:
    """Rates and latencies of three versions are those of arithmetic by hand."""
    job = read(recorded(name)).job()
    assert job.directions == [direction]
    assert job.iops() == pytest.approx(iops, rel=1e-9)
    assert job.bandwidth() == pytest.approx(bandwidth, rel=1e-9)
    assert job.mean_ns() == pytest.approx(mean_us * 1e3, rel=1e-9)
    assert job.percentile_ns(99.0) == pytest.approx(p99_us * 1e3, rel=1e-9)


@pytest.mark.parametrize("text", _OLD)
def test_every_version_tells_the_same(text: str) -> None:
    """One job in the form of each version gives the same figures: 4000 + 2000 IOPS, p99 of 4 ms."""
    number = tuple(map(int, text.split(".")))
    result = read(as_version(drive_job(), number))
    assert [each.told() for each in result.unread] == []
    job = result.job()
    assert job.iops("read") == 4000 and job.iops("write") == 2000
    assert job.bandwidth("read") == pytest.approx(16_384_000, rel=1e-4)
    assert job.mean_ns() == pytest.approx(2e6)
    assert job.percentile_ns(99.0, "read") == 4_000_000
    assert job.direction("read")["total_ios"] == 40_000
    assert job.direction("read")["io_bytes"] == 163_840_000
    assert exit_code_of([result]) == Exit.DONE


@pytest.mark.parametrize("path", sorted(FIO.glob("3.[34][13]-*.json")), ids=lambda path: path.stem)
def test_what_fio_prints_is_understood(path: Path) -> None:
    """All that 3.33 and 3.41 print in seven modes is known, and no rate is absent."""
    if "status-interval" in path.name:
        pytest.skip("holds several documents: test_two_documents_are_not_one")
    result = Result.load(path)
    assert [each.told() for each in result.unread] == []
    assert not result.failures
    for job in result.jobs:
        assert job.iops() > 0 and job.bandwidth() > 0
        assert (job.mean_ns() is None) is ("gtod" in path.name)


def test_mixed_reporting_is_a_direction() -> None:
    """With unified_rw_reporting fio tells of reads and writes together: 1024 requests."""
    for version in ("3.33", "3.41"):
        job = read(recorded(f"{version}-mixed.json")).job()
        assert job.directions == ["mixed"]
        assert job.direction("mixed")["total_ios"] == 1024
        assert read(recorded(f"{version}-both.json")).job().directions == ["read", "write"]


def test_clients_of_a_server_are_jobs() -> None:
    """client_stats stands where jobs stand else."""
    document = drive_job()
    document["client_stats"] = document.pop("jobs")
    document["client_stats"][0] |= {"hostname": "h", "port": 8765}
    assert read(document).job().iops("read") == 4000


def test_bins_by_number_become_latencies() -> None:
    """fio 2.2.12 to 2.19 number bins: with 64 a group, bin 128 is 128 and 129 µs, middle 129."""
    document = as_version(drive_job(), (2, 16))
    block = document["jobs"][0]["read"]["clat"]
    block["bins"] = {"5": 1, "128": 39_999, "FIO_IO_U_PLAT_BITS": 6, "FIO_IO_U_PLAT_NR": 1216}
    assert read(document).job().direction("read")["clat_ns"]["bins"] == {
        "5000": 1,
        "129000": 39_999,
    }


def test_a_figure_that_is_none_in_c() -> None:
    """fio prints -nan where there is no figure: it is absent, and the rest is read."""
    text = json.dumps(drive_job(), indent=1).replace('"util": 0.0', '"util": -nan')
    text = text.replace('"stddev": 3.0', '"stddev": -nan')
    assert "-nan" in text
    assert read(text).job().iops("read") == 4000


def test_a_job_shorter_than_a_millisecond_has_no_rate() -> None:
    """fio writes 0 where the run time is 0: the rate is not known, and not 0."""
    document = drive_job()
    document["jobs"][0]["read"] |= {"runtime": 0, "iops": 0.0, "bw": 0, "bw_bytes": 0}
    job = read(document).job()
    assert job.known_iops("read") is None and job.known_bandwidth("read") is None
    with pytest.raises(SsdlabError, match="not known"):
        job.iops("read")


def test_two_documents_are_not_one(command: Command, tmp_path: Path) -> None:
    """They are counted, with their lines and the command that takes the last one out."""
    text = recorded("3.33-status-interval.json")
    with pytest.raises(SsdlabError, match="4 results stand in it one after another") as caught:
        read(text)
    last = int(str(caught.value).split("tail -n +")[1].split()[0])
    assert read("\n".join(text.split("\n")[last - 1 :])).job().iops() > 0
    (tmp_path / "two.json").write_text(2 * recorded("2.2.10.json"))
    for words in (
        ("compare", "two.json"),
        ("report",),
        ("fit", "--drive", "theory", "-o", "x.toml"),
    ):
        code, out, err = command(*words, "two.json")
        assert (code, out) == (2, "") and "2 results stand in it" in err and "tail -n +" in err


@pytest.mark.parametrize("verb", ["compare", "report", "fit"])
def test_a_failed_job_is_said_first(command: Command, tmp_path: Path, verb: str) -> None:
    """Error 5 and fio's own words stand before any figure, and the exit code tells a finding."""
    (tmp_path / "failed.json").write_text(recorded("3.36-failed.json"))
    (tmp_path / "other.json").write_text(
        recorded("3.36-failed.json").replace('"error": 5', '"error": 0')
    )
    words = {
        "compare": ("other.json", "failed.json"),
        "report": ("failed.json", "-o", "page.html"),
        "fit": ("failed.json", "--drive", "intel-dc-s3500-80gb", "-o", "x.toml"),
    }[verb]
    code, out, err = command(verb, *words)
    said = out + err
    assert code == (Exit.WRONG_INPUT if verb == "fit" else Exit.FINDING)
    assert "failed with error 5 (Input/output error)" in said
    assert "io_u error on file" in said
    if verb == "compare":
        assert out.index("failed with error 5") < out.index("IOPS")
        _, out, _ = command(verb, *words, "--json")
        assert "error 5" in json.loads(out)["failures"][0]
    if verb == "report":
        page = (tmp_path / "page.html").read_text()
        assert page.index("failed with error 5") < page.index("<h2>Summary</h2>")


def test_short_and_dropped_requests_are_said(command: Command, tmp_path: Path) -> None:
    """They are among the requests that figures count: a finding, as errors passed over are."""
    text = recorded("3.36-failed.json").replace('"error": 5', '"error": 0')
    assert '"short_ios": 0' in text and '"drop_ios": 0' in text
    spoiled = text.replace('"short_ios": 0', '"short_ios": 7', 1)
    (tmp_path / "short.json").write_text(spoiled.replace('"drop_ios": 0', '"drop_ios": 2', 1))
    code, out, err = command("compare", "short.json", "short.json")
    assert code == Exit.FINDING
    assert "7 requests came back short" in out + err and "2 requests were dropped" in out + err


def test_every_change_is_told_or_changes_nothing() -> None:
    """A name, a type, a unit or a version changed at every place: no figure goes without a word.

    Where the answer still is "done", its figures are those of the document that was not changed.
    """
    documents = [
        drive_job(),
        as_version(drive_job(), (2, 2, 10)),
        as_version(drive_job(), (3, 1)),
        json.loads(recorded("ssdlab.json")),
    ]
    for seed, document in enumerate(documents):
        base = read(document, "base.json")
        wanted = figures(base, base)
        for told, text in changes(document, seed):
            try:
                changed = read(text, "changed.json")
                found = figures(base, changed)
            except SsdlabError as error:
                assert "base.json" in str(error) or "changed.json" in str(error), told
                continue
            if exit_code_of([changed]) == Exit.DONE:
                # What is absent is shown as absent.
                assert [key for key, _ in found] == [key for key, _ in wanted], told
                pairs = zip(found, wanted, strict=True)
                assert all(one == two or one[1] is None for one, two in pairs), told


def figures(base: Result, other: Result) -> list[tuple[str, float | None]]:
    return [(row.metric.key, row.value) for row in compare([base, other]).rows]


@pytest.mark.parametrize(
    ("version", "why"),
    [
        ("fio-4.0", "newer than 3.42"),
        ("fio-3.43", "newer than 3.42"),
        ("fio-1.50", "older than 2.0.10"),
        ("FIO", "no version of fio"),
        (None, "no version of fio"),
    ],
)
def test_unknown_versions_are_not_judged(command: Command, version: str | None, why: str) -> None:
    """The version is quoted, the exit code is 4, and the figures still stand there."""
    Path("a.json").write_text(json.dumps(drive_job(), indent=1))
    Path("b.json").write_text(json.dumps({**drive_job(), "fio version": version}, indent=1))
    code, out, _ = command("compare", "a.json", "b.json")
    assert code == Exit.NOT_JUDGED
    assert "not judged:" in out and why in " ".join(out.split()) and "6000" in out
    _, out, _ = command("compare", "a.json", "b.json", "--json")
    unread = json.loads(out)["unread"][0]
    assert unread["where"] == "b.json: fio version"


def test_development_versions_are_known() -> None:
    """What is built between two releases is of the older one."""
    assert version_of("fio-3.41-12-gabcdef").why_unknown == ""
    assert version_of("fio-3.33-ssdlab-0.1.0").is_ours


def test_lines_around_are_told() -> None:
    """fio's own are what it said; others are quoted with their places; figures stay."""
    lines = json.dumps(drive_job(), indent=1).split("\n")
    lines.insert(9, "note: both iodepth >= 1 and synchronous I/O engine are selected")
    result = read("\n".join(["$ fio job.fio", *lines, "done by Ann"]))
    assert result.said == ("note: both iodepth >= 1 and synchronous I/O engine are selected",)
    assert [each.where for each in result.unread] == ["line 1", f"line {len(lines) + 2}"]
    assert result.job().iops("read") == 4000


def test_our_names_are_those_of_the_schema() -> None:
    """What ssdlab writes is known to the reader of results."""
    schema = json.loads(_SCHEMA.read_text())
    assert schema["properties"].keys() <= OURS
    assert schema["properties"]["schema_version"]["const"] in OUR_SCHEMAS
