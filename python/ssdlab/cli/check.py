"""``ssdlab check``: what is in the folder of a served drive, or of its log; nothing changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ssdlab import engine
from ssdlab.cli.console import print_json, print_table, print_text
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.lost import cut_in_words, print_lost
from ssdlab.cli.verb import Verb
from ssdlab.ground import text
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.exit_codes import Exit, worst


@click.command(
    cls=Verb,
    short_help="Check the folder of a served drive, or play a log of its commands again.",
    examples=(
        "ssdlab check drive",
        "ssdlab serve drive --log log",
        "ssdlab check log",
    ),
)
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER...", type=click.Path())
@JSON_OPTION
def check(folders: Sequence[str], as_json: bool) -> int:
    """Check the folder of a drive that `ssdlab serve` serves, or play its log again.

    Of a drive's folder it tells whether the drive and its snapshots open, what is wrong with which
    file, and what helps; the bytes themselves have no checksum. Of a folder that `ssdlab serve
    --log` made it plays the commands again, and tells what each power cut took. Exits with 3 where
    something is wrong, with 4 where something could not be looked at.
    """
    answers = [(folder, _look(Path(folder))) for folder in folders]
    if as_json:
        print_json({"folders": [{"folder": folder, **told} for folder, told in answers]})
    else:
        for folder, told in answers:
            _print(folder, told)
    return worst([code for _, told in answers for code in _codes(told)])


def _look(folder: Path) -> dict[str, Any]:
    if not folder.is_dir():
        raise SsdlabError(f"{folder}: is no folder\nname one that `ssdlab serve` or --log made")
    played = engine.replay_log(folder)
    if played is not None:
        return {"log": played}
    return {"drive_folder": engine.check_folder(folder)}


def _codes(told: Mapping[str, Any]) -> Iterator[Exit]:
    for fault in told.get("drive_folder", {}).get("faults", []):
        yield Exit.NOT_JUDGED if fault["unknown"] else Exit.FINDING


def _print(folder: str, told: Mapping[str, Any]) -> None:
    if "log" in told:
        _print_log(folder, told["log"])
    else:
        _print_drive(folder, told["drive_folder"])


def _print_log(folder: str, log: Mapping[str, Any]) -> None:
    cuts = log["cuts"]
    print_text(
        f"{folder}: {log['commands']:,} commands to {log['drive']}, played again; "
        f"{len(cuts)} power cut{'' if len(cuts) == 1 else 's'}"
    )
    if log["ends"] is not None:
        print_text(f"the log ends before the drive did: {log['ends']}")
    for cut in cuts:
        print_text("")
        print_text(cut_in_words(cut))
        print_lost(cut)


def _print_drive(folder: str, told: Mapping[str, Any]) -> None:
    print_table(("", folder), list(_rows(told)))
    for fault in told["faults"]:
        print_text("")
        print_text(f"{fault['file']}: {fault['what']}")
        print_text(f"  {fault['remedy']}")


def _rows(told: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield "its drive", "opens" if told["opens"] else "does not open"
    if told["served_by"] is not None:
        yield "served by", f"process {told['served_by'] or 'unknown'}"
    drive = told["drive"]
    if drive is not None:
        yield "drive", f"{drive['name']}, {text.size(drive['capacity_bytes'])}"
        yield "condition", str(drive["condition"])
    if told["put_away"] is not None:
        yield "put away", "yes" if told["put_away"] else "no: it goes on as after a power cut"
    if told["checkpoint_unfinished"]:
        yield "checkpoint", "was not kept to its end; the one before counts"
    for name in ("written", "trimmed"):
        number = told[f"units_{name}"]
        if number is not None:
            yield f"units {name}", f"{number:,} since the checkpoint"
    yield "bad sectors", f"{told['bad_sectors']:,}"
    for snapshot in told["snapshots"]:
        yield f"snapshot {snapshot['name']}", "opens" if snapshot["opens"] else "does not open"
    for file in told["files"]:
        size = text.NOTHING if file["bytes"] is None else f"{file['bytes']:,} B"
        yield file["name"], size
