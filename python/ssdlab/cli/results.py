"""Result files as arguments of a verb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from ssdlab.cli.console import note
from ssdlab.engine.result import Result, document_of
from ssdlab.experiment.ensemble.document import Arm, is_ensemble, read
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit, worst
from ssdlab.ground.recognise import what_the_file_is
from ssdlab.ground.unread import Unread

_OF_ANOTHER_SHAPE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def is_sweep(path: str) -> bool:
    """Tell whether a result is the folder of `ssdlab sweep`."""
    return (Path(path) / "study.toml").is_file()


def kept_drive_in(paths: Sequence[str]) -> str | None:
    """Return the folder of `ssdlab serve` that is named, if there is one.

    Raises
    ------
    SsdlabError
        Other results are named beside it.
    """
    folders = [path for path in paths if is_kept_drive(path)]
    if folders and len(paths) > 1:
        raise SsdlabError(
            f"{folders[0]}: a drive of ssdlab serve has a page of its own\nname one drive alone"
        )
    return folders[0] if folders else None


def is_kept_drive(path: str) -> bool:
    """Tell whether a path is a folder that `ssdlab serve` keeps a drive in."""
    return (Path(path) / "data.img").is_file() and (Path(path) / "drive.ssd").is_file()


def are_pts_results(paths: Sequence[str]) -> bool:
    """Tell whether results are folders of `ssdlab pts` or XML files of TKperf, or else fio's JSON.

    Raises
    ------
    SsdlabError
        Some are, and some are not.
    """
    others = [path for path in paths if not _is_pts_result(path)]
    if others and len(others) < len(paths):
        what = what_the_file_is(others[0])
        raise SsdlabError(
            f"{others[0]}: is neither a folder of `ssdlab pts` nor an XML file of TKperf, but "
            f"other results are{f'; {what.told(others[0])}' if what else ''}\n"
            "name only these, or only result files of ssdlab and fio"
        )
    return not others


def _is_pts_result(path: str) -> bool:
    if Path(path).is_dir() or path.endswith(".xml"):
        return True
    what = what_the_file_is(path)
    return what is not None and what.name == "TKperf's result"


ResultText = tuple[str, str]
"""Name and text of a result file."""


def documents_of(paths: Sequence[str]) -> list[ResultText]:
    """Read result files, whatever is in them.

    Raises
    ------
    SsdlabError
        A file cannot be read.
    """
    return [(path, document_of(path)) for path in paths]


def ensembles_in(documents: Sequence[ResultText]) -> list[Arm]:
    """Return the ensembles in results, an arm a drive; none where the results are of single drives.

    Raises
    ------
    SsdlabError
        Some are of ensembles, and some are not; or one is no result, or out of shape.
    """
    others = [(name, document) for name, document in documents if not is_ensemble(document)]
    if len(others) == len(documents):
        return []
    for name, document in others:
        Result.from_json(document, name)  # What is no result at all is told as that.
        raise SsdlabError(
            f"{name}: is the result of single drives, but other results are of ensembles\n"
            "run it with --ensemble as well, or leave the others out"
        )
    return [arm for name, document in documents for arm in read(document, name)]


@contextmanager
def loaded(documents: Sequence[ResultText]) -> Iterator[list[Result]]:
    """Load results, and name the files where the block finds something in them out of shape.

    Raises
    ------
    SsdlabError
        One is no result, or says what neither fio nor ssdlab would.
    """
    results = [Result.from_json(document, name) for name, document in documents]
    try:
        yield results
    except _OF_ANOTHER_SHAPE as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        names = ", ".join(name for name, _ in documents)
        raise SsdlabError(
            f"{names}: an entry is missing or has the wrong type ({what})\n"
            "write the result again with: ssdlab run … --output-format json+ --output FILE"
        ) from error


def exit_code_of(results: Sequence[Result]) -> Exit:
    """Return the exit code that results deserve: failed jobs, or parts that were not understood."""
    return worst(
        code
        for each in results
        for code, found in ((Exit.FINDING, each.failures), (Exit.NOT_JUDGED, each.unread))
        if found
    )


def tell_what_is_wrong(results: Sequence[Result]) -> None:
    """Say on stderr which jobs failed, what fio said, and what was not understood."""
    for each in results:
        for line in (*each.failures, *(f"fio said: {line}" for line in each.said)):
            note(f"ssdlab: {each.name}: {line}")
        tell_unread(unread_of(each))


def unread_of(result: Result) -> list[Unread]:
    """Return what was not understood in a result, with the file's name."""
    return [replace(one, where=f"{result.name}: {one.where}") for one in result.unread]


def tell_unread(several: Sequence[Unread]) -> None:
    """Say on stderr what was not understood."""
    for each in several:
        note(f"ssdlab: not judged: {each.told()}")
