"""``python -m ssdlab.referee.published``: random writes of steady drives beside their makers'.

What has run is kept in the folder, so interrupted runs go on. The exit code is 1 where the mean of
predicted to published lies outside 0.85 to 1.15.
"""

from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence
from pathlib import Path

from ssdlab.experiment.kept import performed
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile
from ssdlab.referee.published.judge import JudgedRate, document, failures, is_run
from ssdlab.referee.published.rows import PublishedRate, rows
from ssdlab.referee.published.runs import Runs

_SECONDS = 30


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 0 where the mean is met, 1 where not, 2 for what the user can mend."""
    try:
        options = _options(arguments)
        asked = _asked(options.drives)
        Path(options.output).mkdir(parents=True, exist_ok=True)
        return _judged(asked, Runs(Path(options.output), options.seconds))
    except (SsdlabError, OSError) as error:
        print(f"ssdlab.referee.published: {error}", file=sys.stderr)
        return 2


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ssdlab.referee.published", description=__doc__)
    parser.add_argument("--drives", default="", help="run only these, separated by commas")
    parser.add_argument(
        "--seconds",
        type=int,
        default=_SECONDS,
        help="measure each drive for this many seconds (%(default)s)",
    )
    parser.add_argument("-o", "--output", required=True, help="keep the results in this folder")
    options = parser.parse_args(arguments)
    if options.seconds < 1:
        raise SsdlabError(f"--seconds {options.seconds}: must be a whole number from 1")
    return options


def _judged(asked: Sequence[PublishedRate], runs: Runs) -> int:
    pieces = [(row.drive, functools.partial(runs.iops, row)) for row in asked if is_run(row)]
    found = performed(pieces)
    judged = [
        JudgedRate(
            row, *(found.get(row.drive, {}).get(key) for key in ("iops", "write_amplification"))
        )
        for row in asked
    ]
    with PendingFile(runs.folder / "published.md", "-o") as pending:
        pending.write(document(judged))
    print(document(judged))
    failed = failures(judged)
    print("\n".join(failed) or "the mean lies where it has to")
    return 1 if failed else 0


def _asked(drives: str) -> list[PublishedRate]:
    every = rows()
    wanted = [each for each in drives.split(",") if each]
    known = [row.drive for row in every]
    for each in wanted:
        if each not in known:
            raise SsdlabError(
                f"--drives {each}: no random writes are published\nthese are: {', '.join(known)}"
            )
    return [row for row in every if not wanted or row.drive in wanted]


if __name__ == "__main__":
    sys.exit(main())
