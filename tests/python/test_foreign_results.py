"""Files that are no results, given to the verbs that read results: each is told what it is."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fio_documents import recorded
from foreign import EXAMPLES, UNKNOWN
from ssdlab.ground.recognise import what_it_is

Command = Callable[..., tuple[int, str, str]]
_READ_HERE = {
    "fio's JSON",
    "fio's JSON of several clients",
    "a result of ssdlab run or season with --ensemble",
    "plan.json of a folder of ssdlab pts",
    "result.json of a folder of ssdlab pts",
    "TKperf's result",
    "a table of measurements",
}
"""Kinds that one of the verbs takes; what is wrong in these, other tests show."""
_TABLES = ("a table (CSV)", "a table whose columns stand apart by ; or tabs", "an empty file")
"""Kinds that `fit` reads as a table, and refuses by their first line."""
_VERBS = {
    "compare": ("compare", "old.json", "f.dat"),
    "report": ("report", "f.dat", "-o", "page.html"),
    "fit": ("fit", "f.dat", "--drive", "intel-dc-s3500-80gb", "-o", "x.toml"),
    "fit --plan": ("fit", "--plan", "f.dat", "--drive", "intel-dc-s3500-80gb"),
}


@pytest.mark.parametrize("verb", _VERBS)
def test_foreign_files_are_told(command: Command, tmp_path: Path, verb: str) -> None:
    """Each of some eighty kinds: the file is named, what it is, what to do; nothing is written."""
    (tmp_path / "old.json").write_text(recorded("3.41-mix.json"))
    count = 0
    for name in EXAMPLES.keys() - _READ_HERE:
        for content in EXAMPLES[name]:
            (tmp_path / "f.dat").write_bytes(content)
            code, out, err = command(*_VERBS[verb])
            assert (code, out) == (2, ""), (name, err)
            assert "f.dat" in err and "Traceback" not in err, (name, err)
            kind = what_it_is(content)
            assert kind is not None
            if name.startswith("JSON that is cut"):
                assert "cut short, or not JSON (line 1: " in err, err
            elif verb.startswith("fit") and name in _TABLES:
                assert "f.dat:1: " in err and "the first line is job,condition" in err, err
            else:
                assert kind.told("f.dat") in err, (name, err)
            count += 1
    assert count > 75
    assert {each.name for each in tmp_path.iterdir()} == {"old.json", "f.dat"}


@pytest.mark.parametrize("verb", _VERBS)
def test_unknown_files_are_quoted(command: Command, tmp_path: Path, verb: str) -> None:
    """What is of no known kind is refused with its name and what would be read."""
    (tmp_path / "old.json").write_text(recorded("3.41-mix.json"))
    for content in UNKNOWN:
        (tmp_path / "f.dat").write_bytes(content)
        code, out, err = command(*_VERBS[verb])
        assert (code, out) == (2, "")
        assert "f.dat" in err and "Traceback" not in err
        assert "ssdlab run" in err or "the first line is job,condition" in err


def test_a_drive_file_is_no_result(command: Command, tmp_path: Path) -> None:
    """`report old.ssd` says what it is and how to measure with it."""
    assert command("season", "theory", "--to", "fresh", "-o", "old.ssd")[0] == 0
    code, _, err = command("report", "old.ssd")
    assert code == 2
    assert "it is a drive file of ssdlab" in err and "ssdlab run job.fio --drive old.ssd" in err
    assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("report", "old.json", "-o", "x.docx"), "name it x.html or x.pdf"),
        (("report", "old.json", "-o", "x.PNG"), "name it x.html or x.pdf"),
        (("explain", "-o", "x.pdf"), "name it x.html"),
        (("fit", "old.json", "--drive", "theory", "-o", "x.json"), "name it x.toml"),
    ],
)
def test_a_name_of_another_form_is_refused(
    command: Command, tmp_path: Path, words: tuple[str, ...], said: str
) -> None:
    """No HTML is written into a .docx: the kinds that can be written are named."""
    (tmp_path / "old.json").write_text(recorded("3.41-mix.json"))
    code, out, err = command(*words)
    assert (code, out) == (2, "") and said in err
    assert [each.name for each in tmp_path.iterdir()] == ["old.json"]


def test_folders_are_told(command: Command, tmp_path: Path) -> None:
    """A sweep's folder given to `compare` is told with its verb; so is a folder of nothing."""
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "study.toml").write_text("")
    (tmp_path / "empty").mkdir()
    for folder, said in (("study", "ssdlab report study"), ("empty", "there is no plan.json")):
        code, out, err = command("compare", folder, folder)
        assert (code, out) == (2, "") and said in err
