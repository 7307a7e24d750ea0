"""``ssdlab season DRIVE --to steady --ensemble N``: how steady a drive gets, with its interval."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from ssdlab.cli.console import is_terminal, print_json, print_text
from ssdlab.cli.drives import tell_not_steady
from ssdlab.cli.ensemble import cells, check_any, figures_text, names_of, parse_count, tell
from ssdlab.cli.tasks import carry_out
from ssdlab.engine import conditions
from ssdlab.engine.request import RunRequest
from ssdlab.experiment.ensemble import document, seasons
from ssdlab.experiment.ensemble.runs import Ensemble, ensemble
from ssdlab.experiment.ensemble.seasons import SeasonOrReason
from ssdlab.ground import signals
from ssdlab.ground.errors import SsdlabError


def check_alone(
    value: str, condition: str | None, start_over: str | None, output: str | None
) -> None:
    """Refuse what an ensemble of seasons does not do."""
    if not conditions.is_steady(condition):
        raise SsdlabError(f"--ensemble {value}: tells how drives become steady\nadd --to steady")
    for option, given in (("--start-over", start_over), ("-o", output)):
        if given is not None:
            raise SsdlabError(
                f"--ensemble {value}: does not go with {option}, since no drive is kept\n"
                "leave one of them out"
            )


def season_ensemble(request: RunRequest, value: str, *, as_json: bool) -> int:
    """Make a drive steady, and as many as are drawn of it; return the exit code."""
    count = parse_count(value)
    drives = ensemble(request, count)
    outcomes, stopped = carry_out(names_of(drives), seasons.tasks(drives))
    found = [(drives, outcomes, seasons.of(drives, outcomes))]
    check_any(found, stopped)
    if as_json:
        told = document.written(found, count)
        told["ensemble"]["drives"][0]["steady_reached"] = seasons.reached_in(outcomes)
        print_json(told)
    else:
        _print(drives, outcomes, found)
    tell(found, stopped)
    point = outcomes[0]
    reason = point.get("not_steady") if isinstance(point, dict) else None
    code = tell_not_steady([(request.drive, reason)])
    return signals.exit_code() if stopped else code


def _print(
    drives: Ensemble, outcomes: Sequence[SeasonOrReason | None], found: document.DrawnDrives
) -> None:
    reached = [each for each in seasons.reached_in(outcomes)["draws"] if each is not None]
    rows = [cells(drives, figure) for _, _, figures in found for figure in figures]
    print_text(figures_text(rows, terminal=is_terminal(sys.stdout)))
    print_text(f"steady state: reached in {sum(reached)} of {len(reached)} draws")
