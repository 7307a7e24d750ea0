"""``python -m ssdlab.referee.predicted``: predicts WA and rate of the Micron 7450 pair.

What has run is kept in a folder, so an interrupted prediction goes on.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ssdlab.experiment.kept import performed
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile
from ssdlab.referee.predicted.prediction import Prediction, summarised
from ssdlab.referee.predicted.rows import rows

_PARTS = 64
"""One die: within 0.3 % of four, and five times as fast (docs/explanation/validation.md)."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it; 0 where all is written, 2 for what the user can mend."""
    try:
        options = _options(arguments)
        Path(options.kept).mkdir(parents=True, exist_ok=True)
        found = _predicted(options)
        with PendingFile(options.output, "-o") as pending:
            pending.write(_one_a_line(found))
    except (SsdlabError, OSError) as error:
        print(f"ssdlab.referee.predicted: {error}", file=sys.stderr)
        return 2
    return 0


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m ssdlab.referee.predicted", description=__doc__)
    parser.add_argument("--draws", type=int, default=16, help="number of drives to draw")
    parser.add_argument(
        "--scale", type=int, default=_PARTS, help="run on 1/SCALE of each drive's dies"
    )
    parser.add_argument(
        "--patterns", default="", help="predict only these patterns, separated by commas"
    )
    parser.add_argument("--kept", default="target/predicted", help="keep the runs in this folder")
    parser.add_argument("-o", "--output", required=True, help="write the predictions to this file")
    options = parser.parse_args(arguments)
    for name in ("draws", "scale"):
        if getattr(options, name) < 1:
            raise SsdlabError(f"--{name} {getattr(options, name)}: must be a whole number from 1")
    return options


def _predicted(options: argparse.Namespace) -> list[dict[str, Any]]:
    prediction = Prediction(Path(options.kept), options.scale, options.draws)
    known = {row.pattern for row in rows()}
    wanted = [each for each in options.patterns.split(",") if each]
    for each in wanted:
        if each not in known:
            raise SsdlabError(f"--patterns {each}: is not predicted\nthese are: {sorted(known)}")
    asked = [row for row in rows() if not wanted or row.pattern in wanted]
    found = performed([(row.name, run) for row, run in prediction.pieces(asked)])
    return [summarised(row, found[row.name]) for row in asked]


def _one_a_line(found: Sequence[dict[str, Any]]) -> str:
    """Write a list of objects, one a line, which a change shows best in."""
    lines = [json.dumps(each, ensure_ascii=False) for each in found]
    return "[\n" + ",\n".join(lines) + "\n]\n"


if __name__ == "__main__":
    sys.exit(main())
