"""What is ours on the command line, and what is fio's."""

from __future__ import annotations

from pathlib import Path

import pytest

from ssdlab.cli.arguments import read_job_source
from ssdlab.ground.errors import SsdlabError


def test_fio_options_in_all_spellings_become_flags() -> None:
    """`--name=value`, `--name value` and a bare `--name` all reach the engine as flags."""
    source = read_job_source(["--rw=randwrite", "--bs", "4k", "--refill_buffers", "--direct=1"])
    assert source.flags == ("--rw=randwrite", "--bs=4k", "--refill_buffers", "--direct=1")
    assert source.text is None


def test_an_existing_file_is_the_job_file(tmp_path: Path) -> None:
    """A job file is read even right behind a bare option, and flags go with it."""
    file = tmp_path / "job.fio"
    file.write_text("[one]\nrw=read\n")
    source = read_job_source(["--refill_buffers", str(file), "--loops=2"])
    assert source.text == "[one]\nrw=read\n"
    assert source.name == str(file)
    assert source.flags == ("--refill_buffers", "--loops=2")


def test_an_option_without_dashes_is_left_to_the_engine() -> None:
    """`direct=1` is no file: the engine knows the option and says which dashes are missing."""
    assert read_job_source(["--rw=read", "direct=1"]).flags == ("--rw=read", "direct=1")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no job"),
        (["missing.fio"], "no such job file: missing.fio"),
        (["--rw=read", "some/where.fio"], "no such job file: some/where.fio"),
    ],
)
def test_what_cannot_be_a_job_is_refused(arguments: list[str], message: str) -> None:
    """A missing job or job file is named."""
    with pytest.raises(SsdlabError, match=message):
        read_job_source(arguments)


def test_two_job_files_are_refused(tmp_path: Path) -> None:
    """fio would run both; here they are one file or two runs."""
    for name in ("a.fio", "b.fio"):
        (tmp_path / name).write_text("[x]\n")
    with pytest.raises(SsdlabError, match="one job file at a time"):
        read_job_source([str(tmp_path / "a.fio"), str(tmp_path / "b.fio")])
