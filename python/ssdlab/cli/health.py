"""``ssdlab health``: the life of real drives, as each vendor means it."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import click

from ssdlab import text
from ssdlab.cli.console import note, print_json, print_list, print_table, print_text
from ssdlab.cli.drives import JSON_OPTION
from ssdlab.cli.verb import Verb
from ssdlab.errors import SsdlabError
from ssdlab.health import live, monitoring
from ssdlab.health.baseline import read_baseline, write_baseline
from ssdlab.health.examination import Examination, date_of, examine, unanswered
from ssdlab.health.findings import Limits, Severity
from ssdlab.health.history import Reading, read_history, vanished, write_history
from ssdlab.health.life import life_of
from ssdlab.health.meanings import Family, read_overrides
from ssdlab.health.report import DriveReport, read_report
from ssdlab.output import PendingFile, check_writable

Asked = tuple[str, DriveReport | SsdlabError]
_LONGEST_FILE = 16 << 20


class _PlugIn(Verb):
    """A verb that is called by monitors too: to them a wrong option is UNKNOWN, not CRITICAL."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse; where it was to be a plug-in, say what is wrong in its one line."""
        wanted = " ".join(args).replace("=", " ")
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            if "--format nagios" not in wanted:
                raise
            print_text(monitoring.failure(SsdlabError(error.format_message())))
            ctx.exit(int(Severity.UNKNOWN))


@click.command(
    cls=_PlugIn,
    short_help="Read the wear of real drives, as each vendor means it.",
    terms=(("DEVICE", "such as /dev/sda; without one, every drive that smartctl finds"),),
    examples=(
        "ssdlab health",
        "ssdlab health /dev/sda -d megaraid,6",
        "smartctl -j -x /dev/nvme0 > n.json; ssdlab health --from n.json",
        "ssdlab health --history /var/lib/ssdlab/health.jsonl --format nagios",
    ),
)
@click.argument("devices", nargs=-1, metavar="[DEVICE]…")
@click.option("--from", "files", multiple=True, metavar="FILE", help="JSON made elsewhere.")
@click.option("-d", "kind", metavar="TYPE", help="smartctl's -d, such as megaraid,6.")
@click.option("--meanings", metavar="FILE", help="Families of your own (TOML).")
@click.option("--history", metavar="FILE", help="Keep readings; gives the wear-out date.")
@click.option("--baseline", metavar="FILE", help="Known error counts, which alarm if they grow.")
@click.option("--acknowledge", is_flag=True, help="Write today's error counts to the baseline.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("table", "json", "nagios", "prometheus")),
    default="table",
    show_default=True,
)
@JSON_OPTION
@click.option("--output", "-o", metavar="FILE", help="Write there, in one step.")
@click.option("--smartctl", default="smartctl", show_default=True, metavar="PROGRAM")
def health(
    devices: tuple[str, ...],
    files: tuple[str, ...],
    kind: str | None,
    meanings: str | None,
    history: str | None,
    baseline: str | None,
    acknowledge: bool,
    form: str,
    as_json: bool,
    output: str | None,
    smartctl: str,
) -> int:
    """Read the wear of real drives. Exit code: 0 good, 1 warning, 2 critical, 3 unknown."""
    form = "json" if as_json else form
    try:
        if acknowledge and baseline is None:
            raise SsdlabError("--acknowledge needs --baseline FILE, where the counts are kept")
        if history:
            check_writable(history, "--history")
        if baseline and acknowledge:
            check_writable(baseline, "--baseline")
        overrides = read_overrides(meanings) if meanings else ()
        asked = [*_from_files(files), *_from_drives(devices, kind, smartctl, bool(files))]
        known = read_baseline(baseline) if baseline else {}
        examined = _examine(asked, overrides, known, history)
        if acknowledge and baseline is not None:
            counts = write_baseline(baseline, known, examined)
            note(f"{counts} counts are acknowledged in {baseline}")
        _show(examined, form, output)
    except Exception as error:
        # To a monitor a plug-in that fails for whatever reason is UNKNOWN, never a warning.
        if form != "nagios":
            raise
        print_text(monitoring.failure(error))
        return int(Severity.UNKNOWN)
    return int(monitoring.overall(examined))


def _from_files(files: Sequence[str]) -> list[Asked]:
    return [(name, read_report(live.parse(_bytes(name), name), name)) for name in files]


def _bytes(name: str) -> bytes:
    try:
        with Path(name).open("rb") as file:
            content = file.read(_LONGEST_FILE + 1)
    except OSError as error:
        raise SsdlabError(f"--from {name}: {error.strerror}") from None
    if len(content) > _LONGEST_FILE:
        raise SsdlabError(f"--from {name}: more than {_LONGEST_FILE >> 20} MiB; not of one drive")
    return content


def _from_drives(
    devices: Sequence[str], kind: str | None, smartctl: str, have_files: bool
) -> list[Asked]:
    if not devices and have_files:
        return []
    words = [[device, *(["-d", kind] if kind else [])] for device in devices]
    return [(each[0], _ask(each, smartctl)) for each in words or live.scan(smartctl)]


def _ask(words: Sequence[str], smartctl: str) -> DriveReport | SsdlabError:
    """Ask a drive; that it does not answer is a finding, not the end."""
    if not Path(words[0]).exists():
        raise SsdlabError(f"no such device: {words[0]}\nlsblk lists them; ssdlab health asks all")
    try:
        return live.ask(words, smartctl)
    except SsdlabError as error:
        return error


def _examine(
    asked: Sequence[Asked],
    overrides: Sequence[Family],
    known: dict[str, dict[str, int]],
    history: str | None,
) -> list[Examination]:
    earlier = read_history(history) if history else []
    now = time.time()
    examined, readings = [], []
    for name, report in asked:
        if isinstance(report, SsdlabError):
            examined.append(unanswered(name, str(report)))
            continue
        reading = Reading.of(report, life_of(report, overrides), now)
        readings.append(reading)
        own = [each for each in (*earlier, reading) if each.drive == reading.drive]
        counts = known.get(reading.drive, {})
        examined.append(examine(report, overrides=overrides, acknowledged=counts, history=own))
    if history:
        write_history(history, [*earlier, *readings])
        examined += [_gone(drive) for drive in vanished(earlier, (r.drive for r in readings))]
    return examined


def _gone(drive: str) -> Examination:
    return unanswered(drive, "the drive was there before and is not now\nsee the history file")


def _show(examined: Sequence[Examination], form: str, output: str | None) -> None:
    writers: dict[str, Callable[[], str]] = {
        "nagios": lambda: monitoring.nagios(examined, Limits()),
        "prometheus": lambda: monitoring.prometheus(examined),
        "json": lambda: _json(examined),
    }
    if output is not None:
        if form == "table":
            raise SsdlabError("--output needs --format json, nagios or prometheus")
        with PendingFile(output) as pending:
            pending.write(writers[form]().rstrip("\n") + "\n")
    elif form == "json":
        print_json([each.to_dict() for each in examined])
    elif form == "table":
        _print_table(examined)
    else:
        print_text(writers[form]())


def _json(examined: Sequence[Examination]) -> str:
    return json.dumps([each.to_dict() for each in examined], indent=2, ensure_ascii=False)


def _print_table(examined: Sequence[Examination]) -> None:
    headings = ("drive", "model", "state", "life used", "spare", "written", "WA", "worn out")
    print_table(headings, [_row(each) for each in examined], right=(3, 4, 5, 6), fold=1)
    for each in examined:
        said = [
            f"{finding.severity}: {finding.what} ({finding.why})" if finding.why else finding.what
            for finding in each.findings
        ]
        print_list(each.drive, said)


def _row(each: Examination) -> tuple[str, ...]:
    life = each.life
    state = str(each.severity)
    if life is None:
        return (each.drive, text.NOTHING, state, *(text.NOTHING,) * 5)
    used, spare = life.used_percent, life.spare_percent
    written, amplification = life.host_written_bytes, life.write_amplification
    return (
        each.drive,
        (each.report.model if each.report else "") or text.NOTHING,
        state,
        text.percent(used.number / 100, 0) if used else "unknown",
        text.percent(spare.number / 100, 0) if spare else text.NOTHING,
        text.size(written.number) if written else text.NOTHING,
        text.ratio(amplification.number) if amplification else text.NOTHING,
        _worn_out(each),
    )


def _worn_out(each: Examination) -> str:
    end = each.wear_out
    if end is None:
        return text.NOTHING
    latest = date_of(end.latest_s) or "never"
    return f"{date_of(end.time_s)} ({date_of(end.earliest_s)} to {latest})"
