"""``ssdlab smart``: a simulated drive's health, in smartctl's own words, options and exit codes.

As ``smartctl`` on the path (``ln -s "$(command -v ssdlab)" smartctl``) it stands in for smartctl,
so that collectors read simulated drives. A scan finds the drives that ``SSDLAB_DRIVES`` names, as
``/dev/`` and the last part of each path, since that is where collectors look.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ssdlab.cli.console import note, print_json, print_text
from ssdlab.cli.verb import Verb
from ssdlab.ground.errors import SsdlabError

if TYPE_CHECKING:
    from ssdlab.machine.health.smart_text import Parts

DRIVES = "SSDLAB_DRIVES"
"""The environment's list of the drives that a scan finds, as PATH has folders."""
_NOT_OPENED, _IS_FAILING, _PREFAIL = 1 << 1, 1 << 3, 1 << 4
"""Bits of smartctl's exit status."""
_TYPES = ("auto", "ata", "sat", "nvme", "test")
_LOGS = ("error", "xerror", "selftest", "xselftest", "devstat", "ssd")
_SECTIONS: dict[str, tuple[str, ...]] = {
    "information": (
        *("model_name", "model_family", "serial_number", "firmware_version"),
        *("nvme_total_capacity", "nvme_number_of_namespaces", "nvme_namespaces"),
    ),
    "capabilities": ("nvme_namespaces", "nvme_power_states"),
    "health": ("smart_status",),
    "attributes": ("ata_smart_attributes", "nvme_smart_health_information_log"),
    "errors": ("ata_smart_error_log", "nvme_error_information_log"),
    "self_tests": ("ata_smart_self_test_log", "nvme_self_test_log"),
    "statistics": ("ata_device_statistics",),
}
"""Fields of the document that are there for sections, and not without them."""


class _AsSmartctl(Verb):
    """Takes ``--json=c`` and the like, whose forms are all the same here."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the arguments."""
        read = [re.sub(r"^(--json)=[a-z]*$|^(-j)[cgiosuvy]+$", r"\1\2", arg) for arg in args]
        return super().parse_args(ctx, read)


@click.command(
    cls=_AsSmartctl,
    short_help="Print a simulated drive's health as smartctl does.",
    terms=(
        ("FOLDER", "a drive that `ssdlab serve` has, as it is now; or any other drive"),
        ("exit 8, 16", "the drive fails; an attribute is at its threshold (bits, as smartctl's)"),
        ("exit 2", "it cannot be read"),
    ),
    examples=(
        "ssdlab smart drive",
        "ssdlab smart -x --json intel-dc-s3500-80gb",
        'ln -s "$(command -v ssdlab)" smartctl; SSDLAB_DRIVES=$PWD/drive ./smartctl --scan',
    ),
)
@click.argument("drive", metavar="FOLDER|DRIVE", required=False)
@click.option(
    "-a", "--all", "wants_all", is_flag=True, help="Show all of -i, -c, -H, -A and the logs."
)
@click.option("-x", "--xall", is_flag=True, help="Show -a and the device statistics.")
@click.option("-i", "--info", "information", is_flag=True, help="Show identity information.")
@click.option(
    "-c", "--capabilities", is_flag=True, help="Show the sector formats of an NVMe drive."
)
@click.option("-H", "--health", is_flag=True, help="Show the drive's own verdict.")
@click.option(
    "-A", "--attributes", is_flag=True, help="Show SMART attributes or the NVMe health log."
)
@click.option(
    "-l",
    "--log",
    "logs",
    multiple=True,
    metavar="TYPE",
    help=f"Show a log: {', '.join(_LOGS)}. May be repeated.",
)
@click.option(
    "-f",
    "--format",
    "form",
    type=click.Choice(("old", "brief")),
    help="Set the format of the attribute table.",
)
@click.option("-d", "--device", "kind", metavar="TYPE", help="Require this type: ata, sat or nvme.")
@click.option("--scan", is_flag=True, help=f"List the drives in {DRIVES}, as /dev/NAME.")
@click.option("--scan-open", is_flag=True, help="Same as --scan.")
@click.option("-n", "--nocheck", "_nocheck", metavar="MODE", hidden=True)
@click.option("-T", "--tolerance", "_tolerance", metavar="TYPE", hidden=True)
@click.option("-q", "--quietmode", "_quiet", metavar="TYPE", hidden=True)
@click.option("-V", "--version", is_flag=True, help="Show the smartctl version that it follows.")
@click.option("-j", "--json", "as_json", is_flag=True, help="Print JSON for programs.")
def smart(drive: str | None, as_json: bool, **given: Any) -> int:
    """Print the health of a simulated drive as smartctl does, for programs that read that.

    Without options it shows what -a does. The model has no temperature, power-on hours and power
    cycles: they appear once `ssdlab ctl FOLDER age` has set them.
    """
    from ssdlab.machine.health import smart_text

    if given["version"]:
        print_text(smart_text.banner())
        return 0
    if given["scan"] or given["scan_open"]:
        return _scan(as_json)
    if drive is None:
        raise SsdlabError("smart: needs a drive\nname one: ssdlab smart FOLDER")
    parts = _parts(given)
    try:
        document = _document(drive, given["kind"])
    except SsdlabError as error:
        return _not_opened(drive, str(error), as_json)
    if given["capabilities"] and document["device"]["protocol"] == "ATA":
        note("ssdlab: -c: a simulated SATA drive tells no capabilities")
    document["smartctl"]["exit_status"] = code = _exit_status(document, parts)
    if as_json:
        print_json(_chosen(document, parts))
    else:
        print_text(smart_text.smart_text(document, parts).rstrip("\n"))
    return code


def _parts(given: Mapping[str, Any]) -> Parts:
    from ssdlab.machine.health.smart_text import Parts

    for log in given["logs"]:
        if log.partition(",")[0] not in _LOGS:
            raise SsdlabError(
                f"-l {log}: is no log of a simulated drive\nthere are {', '.join(_LOGS)}"
            )
    logs = {log.partition(",")[0] for log in given["logs"]}
    names = ("information", "capabilities", "health", "attributes")
    has_none = not (logs or any(given[name] for name in (*names, "wants_all", "xall")))
    every = bool(given["wants_all"] or given["xall"] or has_none)
    return Parts(
        **{name: bool(every or given[name]) for name in names},
        errors=bool(every or logs & {"error", "xerror"}),
        self_tests=bool(every or logs & {"selftest", "xselftest"}),
        statistics=bool(given["xall"] or logs & {"devstat", "ssd"}),
        is_brief=given["form"] == "brief" or (given["xall"] and given["form"] is None),
    )


def _listed() -> dict[str, str]:
    """Give the drives that the environment names, by the name of their device."""
    found: dict[str, str] = {}
    for drive in filter(None, os.environ.get(DRIVES, "").split(os.pathsep)):
        device = f"/dev/{Path(drive).name}"
        if device in found:
            raise SsdlabError(f"{DRIVES}: two drives are {device}\ngive one another name")
        found[device] = drive
    return found


def _document(device: str, kind: str | None) -> dict[str, Any]:
    from ssdlab import engine
    from ssdlab.cli.served_note import shown_now, smart_document

    drive = _listed().get(device, device)
    document = smart_document(drive, shown_now(drive), device, engine.version())
    protocol = document["device"]["protocol"]
    wanted = (kind or "auto").partition(",")[0]
    if wanted not in _TYPES:
        raise SsdlabError(
            f"-d {kind}: is no type of a simulated drive\nthere are {', '.join(_TYPES)}"
        )
    if wanted in ("ata", "sat", "nvme") and (wanted == "nvme") != (protocol == "NVMe"):
        raise SsdlabError(f"-d {kind}: {device} speaks {protocol}\nleave it out")
    now = int(time.time())
    document["local_time"] = {"time_t": now, "asctime": time.asctime(time.localtime(now))}
    return document


def _exit_status(document: Mapping[str, Any], parts: Parts) -> int:
    """As smartctl has it: what was not asked for is not judged."""
    table = document.get("ata_smart_attributes", {}).get("table", [])
    fails = any(each["when_failed"] and each["flags"]["prefailure"] for each in table)
    is_failing = not document["smart_status"]["passed"]
    looks = parts.health or parts.attributes
    return _IS_FAILING * (is_failing and parts.health) | _PREFAIL * (fails and looks)


def _chosen(document: Mapping[str, Any], parts: Parts) -> dict[str, Any]:
    """Leave out what was not asked for."""
    asked = {
        field
        for section, fields in _SECTIONS.items()
        if getattr(parts, section)
        for field in fields
    }
    out = {field for fields in _SECTIONS.values() for field in fields} - asked
    return {key: value for key, value in document.items() if key not in out}


def _not_opened(drive: str, error: str, as_json: bool) -> int:
    from ssdlab.cli.given_files import what_was_given
    from ssdlab.machine.health.simulated import VERSION

    first, _, _ = error.partition("\n")
    if as_json:
        told = [{"string": first, "severity": "error"}]
        program = {"version": [*VERSION], "messages": told, "exit_status": _NOT_OPENED}
        device = {"name": drive, "info_name": drive}
        print_json({"json_format_version": [1, 0], "smartctl": program, "device": device})
    note(f"ssdlab: {error}{what_was_given(error, ['smart', drive])}")
    return _NOT_OPENED


def _scan(as_json: bool) -> int:
    """List the drives that the environment names; one that cannot be read is told on stderr."""
    from ssdlab.machine.health.simulated import VERSION

    found = []
    for device in _listed():
        try:
            found.append(_document(device, None)["device"])
        except SsdlabError as error:
            note(f"ssdlab: {error}")
    if as_json:
        program = {"version": [*VERSION], "exit_status": 0}
        print_json({"json_format_version": [1, 0], "smartctl": program, "devices": found})
        return 0
    for device in found:
        print_text(
            f"{device['name']} -d {device['type']} # {device['name']}, {device['protocol']} device"
        )
    if not found:
        note(f"ssdlab: no drive\nname some in {DRIVES}, as PATH names folders")
    return 0
