"""``ssdlab fit``: a profile from measurements of a drive, and what to measure next."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ssdlab.cli.arguments import SEED_OPTION, whole_number
from ssdlab.cli.console import note, print_json
from ssdlab.cli.drives import SET_OPTION, parse_settings
from ssdlab.cli.fit_plan import as_data, perform, print_plan, ranked_plan
from ssdlab.cli.json_option import JSON_OPTION, check_json_alone
from ssdlab.cli.verb import Verb
from ssdlab.engine import conditions
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit, worst
from ssdlab.ground.output import PendingFile, is_stdout
from ssdlab.report.printing import check_ending

if TYPE_CHECKING:
    from ssdlab.study.fitting.measurement import Gathered
    from ssdlab.study.fitting.unknowns import Space

_LEAST_DRAWS, _MOST_DRAWS = 16, 1024
_FEW = 5
"""From so many measurements on, at least one is held back."""


@click.command(
    cls=Verb,
    short_help="Fit a profile to measurements of a drive.",
    examples=(
        "ssdlab fit mine.csv --drive intel-dc-s3500-80gb -o mine.toml",
        "ssdlab fit steady.json --state steady --drive intel-dc-s3500-80gb -o mine.toml",
        "ssdlab fit s3500/ --drive intel-dc-s3500-80gb -o mine.toml",
        "ssdlab fit --plan --drive intel-dc-s3500-80gb mine.csv",
        "ssdlab run --rw=randwrite --bs=4k --drive mine.toml --state steady",
    ),
)
@click.argument("measurements", nargs=-1, metavar="[MEASUREMENT]…")
@click.option(
    "--drive",
    required=True,
    metavar="BASE",
    help="Start from this profile, the closest to your drive.",
)
@SET_OPTION
@click.option(
    "--state",
    type=click.Choice(conditions.CHOICES),
    help="Name the condition that the drive was in when fio measured it.",
)
@click.option("--output", "-o", metavar="FILE.toml", help="Write the profile to this file.")
@click.option(
    "--plan",
    is_flag=True,
    help="List short measurements, the most informative first; write no profile.",
)
@click.option(
    "--hold-back",
    default="20%",
    show_default=True,
    metavar="SHARE",
    help="Keep this share of the measurements out of the fit, and predict it.",
)
@click.option(
    "--draws",
    default="64",
    show_default=True,
    metavar="N",
    callback=whole_number(_LEAST_DRAWS, _MOST_DRAWS),
    help="Simulate N drives in each of four waves.",
)
@SEED_OPTION
@JSON_OPTION
def fit(
    measurements: tuple[str, ...],
    drive: str,
    settings: tuple[str, ...],
    state: str | None,
    output: str | None,
    plan: bool,
    hold_back: str,
    draws: int,
    seed: int,
    as_json: bool,
) -> int:
    """Fit a profile to measurements of a drive.

    MEASUREMENT is fio's JSON, a folder of ssdlab pts, the XML file of TKperf, or a CSV file with
    the columns job, condition, metric, value and spread. The fit changes the numbers that the
    measurements determine, and names those that they do not. It needs -o, unless --plan asks what
    to measure.
    """
    from ssdlab.study.fitting.unknowns import space_of

    share = _share(hold_back)
    if plan:
        if output is not None:
            raise SsdlabError(f"--plan writes no profile\nleave -o {output} out")
        space = space_of(drive, parse_settings(settings))
        read = _read(measurements, state)
        ranked = ranked_plan(space, read.measurements, draws, seed)
        if as_json:
            print_json({"plan": [as_data(each) for each in ranked], **_of_input(read)})
        else:
            print_plan(ranked)
        return _code(read)
    if output is not None:
        check_ending(output, (".toml",), "a profile")
    if output is None or not measurements:
        missing = "-o FILE.toml" if measurements else "a MEASUREMENT"
        raise SsdlabError(
            f"nothing to do: {missing} is missing\n"
            f"ssdlab fit mine.csv --drive {drive} -o mine.toml, or --plan"
        )
    check_json_alone(as_json, output)
    found = _read(measurements, state)
    space = space_of(drive, parse_settings(settings))
    with PendingFile(output) as pending:
        code = _fit(space, found, measurements, share, draws, seed, pending, as_json=as_json)
    return worst((code, _code(found)))


def _fit(
    space: Space,
    read: Gathered,
    files: Sequence[str],
    share: float,
    draws: int,
    seed: int,
    pending: PendingFile,
    *,
    as_json: bool,
) -> Exit:
    from ssdlab.cli.fit_told import ToldFit
    from ssdlab.study.fitting.measurement import hold_back
    from ssdlab.study.fitting.misfit import Unexplained, check_explained, misfit_of
    from ssdlab.study.fitting.profile import profile_text
    from ssdlab.study.fitting.refine import refine
    from ssdlab.study.fitting.waves import fit as fit_waves

    measurements = read.measurements
    at_least = 1 / len(measurements) if len(measurements) >= _FEW and share > 0 else 0.0
    held_back = hold_back(measurements, max(share, at_least), seed)
    done = fit_waves(space, measurements, held_back, draws=draws, seed=seed, perform=perform)
    found = refine(done, seed, perform)
    point, likelihood = found.point, found.likelihood
    judged = misfit_of(likelihood.residuals(point.best[None, :])[0])
    try:
        check_explained(judged, done.fitted, likelihood.expected(point.best), space.drive)
    except Unexplained as error:
        note(f"ssdlab: {error}")
        if as_json:
            print_json({"explained": False, "why": str(error), **_of_input(read)})
        return Exit.ATTENTION
    names = [Path(each).resolve().name for each in files]
    pending.write(profile_text(space, point, done.fitted, names))
    told = ToldFit(done, point, judged, found.figures, seed)
    if as_json:
        print_json({"explained": True, **told.as_data(), **_of_input(read)})
    elif not is_stdout(str(pending.path)):
        told.show()
    return Exit.DONE


def _share(value: str) -> float:
    share = text.parse_share(value, "--hold-back")
    if not 0 <= share < 1:
        raise SsdlabError(f"--hold-back {value}: must be a share from 0 up to, but not with, 100%")
    return share


def _read(paths: Sequence[str], state: str | None) -> Gathered:
    from ssdlab.study.fitting.read_any import read_all

    found = read_all(paths, state)
    for each in found.notices:
        note(f"ssdlab: {each}")
    for unread in found.unread:
        note(f"ssdlab: not judged: {unread.told()}")
    return found


def _of_input(read: Gathered) -> dict[str, Any]:
    """Return what programs read of the measurements themselves."""
    return {"notices": read.notices, "unread": [each.to_json() for each in read.unread]}


def _code(found: Gathered) -> Exit:
    return Exit.NOT_JUDGED if found.unread else Exit.DONE
