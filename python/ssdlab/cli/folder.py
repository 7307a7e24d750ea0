"""The folder of a verb that writes several files."""

from __future__ import annotations

from pathlib import Path

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import check_writable, is_stdout


def output_folder(output: str, first_file: str) -> Path:
    """Make the folder that ``-o`` names, and try it before a long run.

    Raises
    ------
    SsdlabError
        It cannot be made or written to.
    """
    folder = Path(output)
    if is_stdout(output):
        raise SsdlabError(f"-o {output}: several files are written; name a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SsdlabError(
            f"-o {output}: {error.strerror}; name a folder you can write to"
        ) from None
    check_writable(folder / first_file, "-o")
    return folder
