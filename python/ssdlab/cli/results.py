"""Result files as arguments of a verb."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from ssdlab.errors import SsdlabError
from ssdlab.result import Result

_OF_ANOTHER_SHAPE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


def are_pts_folders(paths: Sequence[str]) -> bool:
    """Tell whether results are folders, which `ssdlab pts` writes, rather than files.

    Raises
    ------
    SsdlabError
        Some are, and some are not.
    """
    files = [path for path in paths if not Path(path).is_dir()]
    if files and len(files) < len(paths):
        raise SsdlabError(
            f"{files[0]}: is no folder of `ssdlab pts`, and others are\n"
            "name result files only, or folders only"
        )
    return not files


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
