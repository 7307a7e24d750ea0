"""Result files as arguments of a verb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ssdlab.errors import SsdlabError
from ssdlab.result import Result

_OF_ANOTHER_SHAPE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def is_sweep(path: str) -> bool:
    """Tell whether a result is the folder of `ssdlab sweep`."""
    return (Path(path) / "study.toml").is_file()


def are_pts_results(paths: Sequence[str]) -> bool:
    """Tell whether results are folders of `ssdlab pts` or XML files of TKperf, or else fio's JSON.

    Raises
    ------
    SsdlabError
        Some are, and some are not.
    """
    others = [path for path in paths if not (Path(path).is_dir() or path.endswith(".xml"))]
    if others and len(others) < len(paths):
        raise SsdlabError(
            f"{others[0]}: is neither a folder of `ssdlab pts` nor an XML file of TKperf, but "
            "other results are\nname only these, or only result files of ssdlab and fio"
        )
    return not others


@contextmanager
def loaded(paths: Sequence[str]) -> Iterator[list[Result]]:
    """Load results, and name the files where the block finds something in them out of shape.

    Raises
    ------
    SsdlabError
        A file cannot be read, is no result, or says what neither fio nor ssdlab would.
    """
    results = [Result.load(path) for path in paths]
    try:
        yield results
    except _OF_ANOTHER_SHAPE as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise SsdlabError(
            f"{', '.join(paths)}: an entry is missing or has the wrong type ({what})\n"
            "write the result again with: ssdlab run … --output-format json+ --output FILE"
        ) from error
