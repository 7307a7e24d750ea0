"""``ssdlab align check``: a layout, or a listing of partitions, against each unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from ssdlab.cli.align_options import GRID_OPTIONS, LAYER_OPTION, Chosen, read_given, with_options
from ssdlab.cli.align_words import size_of, writes_that_straddle
from ssdlab.cli.console import print_json, print_list, print_paragraph, print_table
from ssdlab.cli.json_option import JSON_OPTION
from ssdlab.cli.verb import Verb
from ssdlab.ground import text
from ssdlab.ground.exit_codes import Exit
from ssdlab.machine.align import findings as checking
from ssdlab.machine.align.layout import Layout
from ssdlab.machine.align.notation import binary_size, decimal_text
from ssdlab.machine.align.rule import Judgement


@click.command(
    cls=Verb,
    short_help="Check a layout: what fits, what straddles, what to do.",
    terms=(
        ("partition", "start, size"),
        ("label", "start: a BSD label's partition inside its slice"),
        (
            "crypt",
            "format=luks2|luks1|plain|veracrypt|truecrypt|bitlocker, payload; luks1 also: "
            "key_bits, align_payload (sectors)",
        ),
        ("lvm", "pe_start, or metadatasize and data_alignment; extent"),
        ("raid", "level, disks, chunk, data_offset"),
        ("filesystem", "type, stripe_unit, stripe_width; zfs also: ashift"),
    ),
    examples=(
        "ssdlab align check --layer partition:start_sector=63 --layer label:start_sector=1985",
        "ssdlab align check server.toml --drive intel-dc-s3500-480gb --json",
        "fdisk -l | ssdlab align check -",
    ),
)
@click.argument("file", required=False, metavar="[LAYOUT]")
@with_options(LAYER_OPTION, *GRID_OPTIONS)
@JSON_OPTION
def check(file: str | None, layers: tuple[str, ...], as_json: bool, **options: Any) -> Exit:
    """Check every layer of a layout, or every partition of a listing, against each unit.

    A multiple of 4 KiB is a must, one of 1 MiB good practice; audit judges by the same rule. A
    listing is the output of fdisk, sfdisk, gdisk, parted, lsblk, blockdev --report, gpart,
    diskpart, Get-Partition and others; - is stdin. The exit code is 3 if data are misaligned, 1
    if they only miss what is good practice, and 4 if something is too coarse to tell or was not
    understood; that is then quoted.
    """
    layout = read_given(file, layers, options)
    if not isinstance(layout, Layout):
        from ssdlab.cli.align_listing import print_listing

        return print_listing(layout, Chosen(options).grid(), as_json=as_json)
    findings = checking.check(layout, Chosen(options, layout.drive).grid())
    found = checking.verdict(findings)
    if as_json:
        print_json(
            {
                "aligned": found is not Judgement.MISALIGNED,
                "verdict": found.value,
                "findings": [asdict(each) for each in findings],
            }
        )
    else:
        _print_findings(findings, found, layout.geometry.sector_bytes)
    return found.exit


def _print_findings(
    findings: Sequence[checking.LayerFinding], found: Judgement, sector_bytes: int
) -> None:
    in_array = any(each.array_byte is not None for each in findings)
    rows = [
        (
            each.name,
            str(each.drive_byte),
            decimal_text(each.drive_byte, sector_bytes),
            *((_or_nothing(each.array_byte),) if in_array else ()),
            f"{each.unit.name}{size_of(each.unit)}",
            _fits(each),
            binary_size(each.worst_remainder) if each.worst_remainder else "",
            writes_that_straddle(each.straddling),
        )
        for each in findings
    ]
    array = ("in the array",) if in_array else ()
    headings = ("layer", "at byte", "sector", *array, "checked against", "fits", "worst remainder")
    right = (1, 2, 3, 6) if in_array else (1, 2, 5)
    print_table((*headings, "writes that straddle"), rows, right=right, fold=len(headings))
    if found is Judgement.ALIGNED:
        print_paragraph("Aligned: the topmost layer fits every unit.")
        return
    if found is Judgement.MISALIGNED:
        print_paragraph("Misaligned: the topmost layer does not fit.")
    else:
        missed = dict.fromkeys(each.unit.name for each in findings if _missed(each))
        print_paragraph(
            f"Not on what is good practice: {', '.join(missed)}. What is a must fits: nothing has "
            "to be moved for it; when it is made anew, begin as below."
        )
    mends = {f"{each.name}: {each.remedy}": None for each in findings if _mends(each)}
    print_list("Remedies, the lowest layer first; check again after each", list(mends))


def _or_nothing(number: int | None) -> str:
    return text.NOTHING if number is None else str(number)


def _fits(finding: checking.LayerFinding) -> str:
    if finding.aligned:
        return "yes"
    return "no" if finding.decides else "no (not judged)"


def _missed(finding: checking.LayerFinding) -> bool:
    return finding.decides and not finding.aligned


def _mends(finding: checking.LayerFinding) -> bool:
    judged = finding.unit.judged and not finding.aligned
    return judged and finding.remedy != checking.BELOW_FIRST
