"""fio's own flags on `ssdlab run`: forms of the result, sections, a check, percentiles."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Command = Callable[..., tuple[int, str, str]]

RUN = ("run", "--rw=randrw", "--bs=4k", "--number_ios=200", "--drive", "theory")
SMALL = ("--set", "capacity_bytes=1GiB")


def test_terse_has_the_fields_of_fio(command: Command, tmp_path: Path) -> None:
    """The terse line has as many fields as fio's, of the same kind at each place."""
    fio = shutil.which("fio")
    if fio is None:
        pytest.skip("fio is not installed: scripts/install-tools.sh")
    job = ("--name=one", "--rw=randrw", "--bs=4k", "--size=1m", "--minimal")
    theirs = subprocess.run(
        [fio, *job, f"--filename={tmp_path / 'data'}"], capture_output=True, text=True, check=True
    ).stdout.split(";")
    code, out, err = command("run", *job, *SMALL, "--drive", "theory")
    assert code == 0, err
    ours = out.strip().split(";")
    # A container's disk may have no counters: fio then leaves its fields out.
    fields = 3 + 2 + 2 * (4 + 4 + 4 + 20 + 4 + 5) + 5 + 7 + 10 + 12
    assert len(ours) == fields + 9
    assert len(theirs) in (fields, fields + 9)

    def kind(field: str) -> str:
        return re.sub(r"\d+", "0", field.strip())

    pairs = [
        (place, ours[place], theirs[place])
        for place in range(5, fields)
        if kind(ours[place]) != kind(theirs[place])
    ]
    assert not pairs
    assert (ours[0], ours[2]) == ("3", "one")


def test_forms_can_be_combined(command: Command) -> None:
    """`json,normal` writes both, in fio's order; an unknown form is refused with the known ones."""
    code, out, _ = command(*RUN, *SMALL, "--output-format=normal,json")
    assert code == 0
    document, end = json.JSONDecoder().raw_decode(out)
    assert document["jobs"][0]["write"]["total_ios"] > 0
    assert "Run status group 0" in out[end:]
    code, out, err = command(*RUN, *SMALL, "--output-format=json,xml")
    assert (code, out) == (2, "")
    assert "unknown format xml" in err and "terse" in err
    code, terse, _ = command(*RUN, *SMALL, "--output-format=terse")
    assert terse == command(*RUN, *SMALL, "--minimal")[1] and terse.startswith("3;fio-3.33-ssdlab")


def test_sections_and_parse_only(command: Command) -> None:
    """`--section` runs the named jobs; `--parse-only` reads a job and runs nothing."""
    Path("two.fio").write_text(
        "[global]\nbs=4k\nthread\nnumber_ios=10\n[a]\nrw=read\n[b]\nrw=write\n"
    )
    code, out, _ = command(
        "run", "two.fio", "--section=b", "--drive", "theory", *SMALL, "--output-format=json"
    )
    assert code == 0
    assert [job["jobname"] for job in json.loads(out)["jobs"]] == ["b"]
    code, out, err = command("run", "two.fio", "--parse-only")
    assert (code, out) == (0, "two.fio: a, b\n")
    assert "thread has no effect: " in err
    code, _, err = command("run", "two.fio", "--section=c", "--parse-only")
    assert code == 2
    assert "its jobs are a, b" in err


def test_all_errors_are_told_at_once(command: Command) -> None:
    """Three wrong lines are three errors, each with its line and the likely name."""
    Path("wrong.fio").write_text("[a]\nfoo=1\nrw=read\niodepht=3\nverify_state=x\n")
    code, out, err = command("run", "wrong.fio", "--drive", "theory", *SMALL)
    assert (code, out) == (2, "")
    assert [f"line {line}" in err for line in (2, 3, 4, 5)] == [True, False, True, True]
    assert "did you mean iodepth?" in err


def test_percentile_list_is_honoured(command: Command) -> None:
    """The percentiles that were asked for, and no others, stand in the text and in the JSON."""
    code, out, _ = command(*RUN, *SMALL, "--percentile_list=50:99.9", "--output-format=json,normal")
    assert code == 0
    job = json.loads(out[: out.rindex("}") + 1])["jobs"][0]
    assert list(job["read"]["clat_ns"]["percentile"]) == ["50.000000", "99.900000"]
    assert re.search(r"^     \| 50\.0th=\[ *\d+\], 99\.9th=\[ *\d+\]$", out, re.MULTILINE)
    code, _, err = command(*RUN, *SMALL, "--percentile_list=nonsense")
    assert code == 2
    assert "--percentile_list=nonsense" in err and "50:99:99.9" in err


def test_status_flags_are_accepted(command: Command) -> None:
    """Flags that only steer what a terminal shows change nothing in a pipe."""
    plain = command(*RUN, *SMALL, "--minimal")
    assert command(*RUN, *SMALL, "--minimal", "--eta=never", "--status-interval=1") == plain


def test_ignored_options_are_told(command: Command) -> None:
    """Each option without effect is a sentence with its reason in the result."""
    code, out, _ = command(
        *(*RUN, *SMALL, "--nice=3", "--dedupe_percentage=50", "--verify=crc32c"),
        "--output-format=json",
    )
    assert code == 0
    notices = json.loads(out)["jobs"][0]["ssdlab"]["notices"]
    named = [notice.split(" has no effect: ")[0] for notice in notices]
    assert named[:2] == ["nice", "dedupe_percentage"]
    assert named[2].startswith("verify=crc32c: what is written is read back")
