"""``ssdlab audit``: how the storage of this machine is set up."""

from __future__ import annotations

import shutil
import sys

import click

from ssdlab.cli.audit_load import count_load
from ssdlab.cli.audit_texts import read_texts
from ssdlab.cli.console import (
    check_agreed,
    fitted,
    is_terminal,
    note,
    print_json,
    print_table,
    print_text,
)
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.plug_in import FORMAT_OPTION, TERM, PlugIn
from ssdlab.cli.streams import printable
from ssdlab.ground import signals
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.output import PendingFile, is_stdout
from ssdlab.machine.audit import monitoring
from ssdlab.machine.audit.capture import capture
from ssdlab.machine.audit.checklist import Checklist, checklist
from ssdlab.machine.audit.finding import Finding, Severity
from ssdlab.machine.audit.prove_trim import places_trimmed, prove_trim
from ssdlab.machine.audit.texts import audit_texts
from ssdlab.machine.audit.trim_proof import Proof
from ssdlab.machine.audit.walk import Audit
from ssdlab.machine.audit.walk import audit as look
from ssdlab.machine.verdict import Verdict
from ssdlab.real.system import LiveSystem, System, open_root

_WIDE_COLUMNS = 140
"""From so many columns of a terminal on a place has a column of its own."""


@click.command(
    cls=PlugIn,
    short_help="Check how the storage of this machine is set up.",
    terms=(
        ("DEVICE, FOLDER", "such as /dev/sda or /home; a folder selects the file system it is on"),
        ("exit 0", "everything looks right"),
        ("1, 3", "something looks wrong: 1 (yellow) may do harm, 3 (red) does harm"),
        ("4", "nothing looks wrong, but something, or all, was not looked at"),
        ("2", "wrong input"),
        TERM,
    ),
    examples=(
        "ssdlab audit",
        "ssdlab audit /home --json",
        "ssdlab audit /dev/disk/by-id/ata-MODEL_SERIAL",
        "ssdlab audit --checklist",
        "ssdlab audit --format nagios",
        "ssdlab audit --from trim.txt disks.txt volumes.txt",
        "ssdlab audit --prove-trim /home",
        "ssdlab audit --capture machine.json; ssdlab audit --root machine.json",
        "ssdlab audit --load 10m -o load.fio; ssdlab run load.fio --drive intel-dc-s3500-80gb",
    ),
)
@click.argument("places", nargs=-1, metavar="[DEVICE|FOLDER]…")
@click.option("--root", metavar="PATH", help="Check a captured tree instead of this machine.")
@click.option("--capture", "keep", metavar="FILE", help="Save what is read, without identities.")
@click.option(
    "--prove-trim", "proven", metavar="FOLDER", help="Trim free space; show how far TRIM gets."
)
@click.option(
    "--load", "duration", metavar="TIME", help="Count reads and writes for this long, such as 10m."
)
@click.option(
    "-o", "--output", metavar="FILE.fio", help="Write the load as a fio job; - is stdout."
)
@click.option(
    "--from",
    "texts",
    multiple=True,
    metavar="FILE",
    help="Check saved output of Windows or FreeBSD tools; accepts several files.",
)
@click.option(
    "--checklist", "as_list", is_flag=True, help="Print a one-page checklist with answers."
)
@click.option("--yes", is_flag=True, help="Run --prove-trim without asking.")
@FORMAT_OPTION
@JSON_OPTION
def audit(
    places: tuple[str, ...],
    root: str | None,
    keep: str | None,
    proven: str | None,
    duration: str | None,
    output: str | None,
    texts: tuple[str, ...],
    as_list: bool,
    yes: bool,
    form: str,
    as_json: bool,
) -> int:
    """Check how the storage of this machine is set up, from file systems down to the drives.

    Only --prove-trim changes anything. Without DEVICE or FOLDER, check all storage in use.
    """
    kinds = {"--capture": keep, "--prove-trim": proven, "--load": duration}
    given = [name for name, value in kinds.items() if value is not None]
    form = "json" if as_json else form
    as_json = form == "json"
    _refuse_mixed(given, texts, root, as_list)
    _refuse_form(form, given, as_list)
    if output is not None and duration is None:
        raise SsdlabError("--output needs --load: ssdlab audit --load 10m -o load.fio")
    system: System = open_root(root) if root else LiveSystem()
    if keep is not None:
        return _keep(system, keep)
    if duration is not None:
        return count_load(system, duration, places, output, as_json)
    if proven is not None:
        return _prove(system, proven, yes, as_json)
    files = (*texts, *places) if texts else ()
    found = audit_texts(read_texts(files)) if files else look(system, places)
    if as_list:
        return _answer(checklist(found), as_json)
    return _tell(found, form)


def _tell(found: Audit, form: str) -> int:
    """Write the audit in its form; give the exit code."""
    if form == "nagios":
        print_text(monitoring.nagios(found.findings))
        return monitoring.plug_in_code(found.findings)
    if form == "prometheus":
        print_text(monitoring.prometheus(found.findings))
    elif form == "json":
        print_json(found.to_dict())
    else:
        _print(found)
    return found.exit_code


def _refuse_form(form: str, kinds: list[str], as_list: bool) -> None:
    """Refuse a monitor's form for what is no audit."""
    names = [*kinds, *(["--checklist"] if as_list else [])]
    if form in ("nagios", "prometheus") and names:
        raise SsdlabError(
            f"--format {form} does not go with {names[0]}; it is for the audit itself"
        )


def _refuse_mixed(
    kinds: list[str], texts: tuple[str, ...], root: str | None, as_list: bool
) -> None:
    """Refuse options of which one would be ignored."""
    names = [*kinds, *(["--from"] if texts else []), *(["--checklist"] if as_list else [])]
    if len(names) > 1 and set(names) != {"--from", "--checklist"}:
        raise SsdlabError(f"{' and '.join(names)} exclude each other; give one of them")
    for name in ("--prove-trim", "--load", "--from"):
        if root is not None and name in names:
            raise SsdlabError(f"{name} does not work on a captured tree; leave out --root")


def _keep(system: System, place: str) -> int:
    with PendingFile(place, "--capture") as pending:
        pending.write(capture(system))
    # Of a capture that is captured again.
    for each in system.unread(lambda: None):
        note(f"left out, since {each.told()}")
    where = "stdout" if is_stdout(place) else place
    note(f"{where} contains what the audit read here; review it before you send it")
    return 0


def _answer(answered: Checklist, as_json: bool) -> int:
    if as_json:
        print_json(answered.to_dict())
        return answered.exit_code
    rows = [
        (str(item.number), str(item.severity.verdict), item.asks, printable(_short(item.answer)))
        for item in answered.items
    ]
    red = [place for place, each in enumerate(answered.items) if each.severity is Severity.RED]
    if _is_narrow():
        short = [(number, verdict, f"{asks}: {found}") for number, verdict, asks, found in rows]
        print_table(("", "", "item, and what the audit found"), short, fold=2, red=red)
    else:
        print_table(("", "", "item", "what the audit found"), rows, fold=3, red=red)
    print_text(f"\n{answered.summary}; for the remedies, run: ssdlab audit")
    return answered.exit_code


def _is_narrow() -> bool:
    """Whether a table of four columns leaves its last one too little of the terminal."""
    columns = shutil.get_terminal_size((80, 24)).columns
    return is_terminal(sys.stdout) and columns < _WIDE_COLUMNS


def _print(found: Audit) -> None:
    rows = [
        tuple(map(printable, (str(each.verdict), each.check, each.where, _short(each.what))))
        for each in found.findings
    ]
    red = [place for place, each in enumerate(found.findings) if each.severity is Severity.RED]
    if _is_narrow():
        # The place stands before the finding: a column of its own would leave that too little.
        short = [(verdict, check, f"{where}: {what}") for verdict, check, where, what in rows]
        print_table(("", "check", "where, and what was found"), short, fold=2, red=red)
    else:
        print_table(("", "check", "where", "finding"), rows, fold=3, red=red)
    for each in found.findings:
        if each.verdict is Verdict.WRONG:
            print_text("\n" + printable(_details(each)))
    print_text(f"\n{found.summary}")


def _short(what: str) -> str:
    """Leave out what the first column says already."""
    return what.removeprefix(f"{Verdict.NOT_LOOKED_AT}, ")


def _details(finding: Finding) -> str:
    severity = f"{finding.verdict} ({finding.severity})"
    lines = [fitted(f"{severity}: {finding.check}, {finding.where}: {finding.what}")]
    if finding.why:
        lines.append(fitted(finding.why, "  why     "))
    if finding.remedy is not None:
        # Nothing stands before the lines, so that they can be pasted as they are.
        lines += ["  remedy", *map(_pasted, finding.remedy.text.splitlines())]
    if finding.source:
        lines.append(fitted(finding.source, "  source  "))
    return "\n".join(lines)


def _pasted(line: str) -> str:
    """Indent a line of a remedy; a comment goes on as one, and a command is never broken."""
    indent = "    "
    return fitted(line, indent, f"{indent}# ") if line.startswith("#") else f"{indent}{line}"


def _prove(system: System, folder: str, yes: bool, as_json: bool) -> int:
    places, layers = places_trimmed(system, folder)
    names = " > ".join(printable(device.label) for device in layers)
    check_agreed(
        f"write and remove a 16 MiB file in {folder}, then fstrim {' and '.join(places)} "
        f"({names})?",
        yes,
    )
    # Its probe file is removed on the way out, whatever ends it.
    with signals.raising():
        proof = prove_trim(system, folder)
    if as_json:
        print_json(proof.to_dict())
    else:
        _print_proof(proof)
    return proof.exit_code


def _print_proof(proof: Proof) -> None:
    rows = [
        (
            printable(layer.label),
            layer.kind,
            f"{layer.requests:,}",
            f"{layer.bytes / 2**20:,.1f} MiB",
            str(layer.verdict) + (f", because {layer.because}" if layer.because else ""),
        )
        for layer in proof.layers
    ]
    print_table(("layer", "kind", "discards", "trimmed", ""), rows, right=(2, 3), fold=4)
    if proof.verdict is Verdict.RIGHT:
        print_text("\nTRIM reaches every drive below.")
    elif proof.verdict is Verdict.WRONG:
        print_text(
            f"\nTRIM stops above {printable(proof.stops_at or '')}, which received no discards."
        )
        for label in proof.broken_by:
            print_text(
                f"The cause is {printable(label)}: it takes no discards; for the remedy, run: "
                "ssdlab audit"
            )
    else:
        print_text("\nTRIM is not proven to reach every drive:")
    for line in proof.unseen:
        print_text(f"- {printable(line)}")
    if proof.trimmed:
        print_text(f"fstrim said: {printable(proof.trimmed)}")
