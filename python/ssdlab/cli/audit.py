"""``ssdlab audit``: how the storage of this machine is set up."""

from __future__ import annotations

import click

from ssdlab import signals
from ssdlab.audit.capture import capture
from ssdlab.audit.finding import Finding, Severity
from ssdlab.audit.prove_trim import Proof, layers_below, prove_trim
from ssdlab.audit.system import LiveSystem, System, open_root
from ssdlab.audit.walk import Audit
from ssdlab.audit.walk import audit as look
from ssdlab.cli.console import note, print_json, print_list, print_table, print_text
from ssdlab.cli.drives import JSON_OPTION
from ssdlab.cli.verb import Verb
from ssdlab.errors import SsdlabError
from ssdlab.output import PendingFile, is_stdout

_EXIT_CODES = {Severity.GREEN: 0, Severity.YELLOW: 1, Severity.RED: 3}


@click.command(
    cls=Verb,
    short_help="Check how the storage of this machine is set up.",
    terms=(("DEVICE, MOUNTPOINT", "such as /dev/sda or /home; without one, all that is in use"),),
    examples=(
        "ssdlab audit",
        "ssdlab audit /home --json",
        "ssdlab audit --prove-trim /home",
        "ssdlab audit --capture machine.json; ssdlab audit --root machine.json",
    ),
)
@click.argument("places", nargs=-1, metavar="[DEVICE|MOUNTPOINT]…")
@click.option("--root", metavar="PATH", help="Look at a captured tree in place of this machine.")
@click.option("--capture", "keep", metavar="FILE", help="Keep what is read, without identities.")
@click.option(
    "--prove-trim", "proven", metavar="MOUNTPOINT", help="Trim free space; see how far TRIM gets."
)
@click.option("--yes", is_flag=True, help="Answer --prove-trim's question.")
@JSON_OPTION
def audit(
    places: tuple[str, ...],
    root: str | None,
    keep: str | None,
    proven: str | None,
    yes: bool,
    as_json: bool,
) -> int:
    """Check how the storage of this machine is set up, from file systems down to the drives.

    Reads only, but for --prove-trim. Exit code: 0 all green, 1 yellow, 3 red, 2 wrong input.
    """
    system: System = open_root(root) if root else LiveSystem()
    if keep is not None:
        return _keep(system, keep)
    if proven is not None:
        if root is not None:
            raise SsdlabError("--prove-trim works on this machine only, not on --root")
        return _prove(system, proven, yes, as_json)
    found = look(system, places)
    if as_json:
        print_json(found.to_dict())
    else:
        _print(found)
    return _EXIT_CODES[found.severity]


def _keep(system: System, place: str) -> int:
    with PendingFile(place, "--capture") as pending:
        pending.write(capture(system))
    where = "stdout" if is_stdout(place) else place
    note(f"{where} holds what the audit reads here; look through it before you send it")
    return 0


def _print(found: Audit) -> None:
    rows = [
        tuple(map(_plain, (str(each.severity), each.check, each.where, each.what)))
        for each in found.findings
    ]
    print_table(("", "check", "where", "finding"), rows, fold=3)
    for each in found.findings:
        if each.severity > Severity.GREEN:
            print_text("\n" + _plain(_details(each)))
    print_list("could not be seen", found.unseen)


def _plain(text: str) -> str:
    """Leave out what would move a terminal's cursor; a captured tree may come from a stranger."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)


def _details(finding: Finding) -> str:
    lines = [f"{finding.severity}: {finding.check}, {finding.where}: {finding.what}"]
    if finding.why:
        lines.append(f"  why     {finding.why}")
    lines += [f"  remedy  {line}" for line in finding.remedy.splitlines()]
    if finding.source:
        lines.append(f"  source  {finding.source}")
    return "\n".join(lines)


def _prove(system: System, mount_point: str, yes: bool, as_json: bool) -> int:
    layers = layers_below(system, mount_point)
    if not yes:
        names = " > ".join(device.label for device in layers)
        click.confirm(
            f"write and remove a 16 MiB file in {mount_point}, then fstrim it ({names})?",
            abort=True,
            err=True,
        )
    # Its probe file is removed on the way out, whatever ends it.
    with signals.raising():
        proof = prove_trim(system, mount_point)
    if as_json:
        print_json(proof.to_dict())
    else:
        _print_proof(proof)
    return 0 if proof.stops_at is None else _EXIT_CODES[Severity.RED]


def _print_proof(proof: Proof) -> None:
    rows = [
        (layer.label, layer.kind, f"{layer.requests:,}", f"{layer.bytes / 2**20:,.1f} MiB")
        for layer in proof.layers
    ]
    print_table(("layer", "kind", "discards", "trimmed"), rows, right=(2, 3))
    if proof.stops_at is None:
        print_text("\nTRIM reaches every layer down to the drive.")
    else:
        print_text(f"\nTRIM stops above {proof.stops_at}, which was asked for nothing.")
        for label in proof.broken_by:
            print_text(f"What takes no discards is {label}: ssdlab audit says what mends it.")
    if proof.trimmed:
        print_text(f"fstrim said: {proof.trimmed}")
