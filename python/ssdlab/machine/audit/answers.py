"""Rows of what tools and the kernel answered: one in another form than theirs is quoted.

Checks pick the rows that they judge by. Here every row of an answer that was asked for is held
against the forms that its program writes, so that none is passed over. Left out: lines of storcli,
ssacli and arcconf that have a key and a value, for each version has keys of its own; what decides
among them is looked at in `checks`. Files and answers whose readers quote rows themselves (mounts,
device-mapper's tables, cron, mdadm.conf, smartctl) are not looked at again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from ssdlab.ground.unread import Unread
from ssdlab.machine.audit.controllers import STORCLI

_FORMS = (
    (
        re.compile("/proc/swaps"),
        re.compile(r"Filename\s+Type\s+Size\s+Used\s+Priority|\S+\s+(partition|file)(\s+-?\d+){3}"),
        "an area of swap has name, type and three numbers (proc(5))",
    ),
    (
        re.compile("/proc/cpuinfo"),
        re.compile(r"[^:]+:.*"),
        "a key and a value with a colon between them were expected (proc(5))",
    ),
    (
        re.compile("/etc/default/mdadm"),
        re.compile(r"\s*(#.*|(export\s+)?\w+=.*)"),
        "a variable and its value were expected",
    ),
    (
        re.compile("dmsetup status"),
        re.compile(r".+:(\s\d+\s\d+\s\S.*)?|No devices found"),
        "a state has name, start, length and target (dmsetup(8))",
    ),
    (
        re.compile("pvs .*"),
        re.compile(r"[^|]+\|[^|]*\|[^|]*\|\s*\d+\s*\|\s*\d+\s*"),
        "a piece has device, group, volume and two numbers (pvs(8))",
    ),
    (
        re.compile("zpool get .*"),
        re.compile(r"[^\t]+\t(ashift|autotrim|health)\t[^\t]+"),
        "pool, property and value were expected, with tabs between them (zpool-get(8))",
    ),
    (
        re.compile("zpool list .*"),
        re.compile(r"\t*[^\t]+(\t[^\t]+)+"),
        "a name and its figures were expected, with tabs between them (zpool-list(8))",
    ),
    (
        re.compile("arcconf .*"),
        re.compile(
            r"[^:]+:.*|\s*-+|Logical [Dd]evice .*|\s*[\w ]*[Ii]nformation|Command completed.*"
        ),
        "a key and a value with a colon between them were expected",
    ),
    (
        re.compile("(ssacli|hpssacli|hpacucli) .*"),
        re.compile(
            r"[^:]+:.*|\S.* in Slot \w+.*|\s*(physicaldrive|enclosure|expander|SEP|Port)\b.*"
        ),
        "a key and a value with a colon between them were expected",
    ),
)
"""By what was asked: the form of a row, and what is said of another."""


def unread_answers(answers: Mapping[str, str | None]) -> Iterator[Unread]:
    """Give what is not understood in answers.

    Parameters
    ----------
    answers
        By the file's path or the command's words.
    """
    for asked, text in answers.items():
        if text is None:
            continue
        if asked.partition(" ")[0] in STORCLI:
            yield from _unread_json(asked, text)
        if asked.startswith("/sys/") and not asked.endswith("/uevent") and "\n" in text:
            yield Unread(asked, text, "one line was expected")
        for name, row, why in _FORMS:
            if name.fullmatch(asked):
                yield from _unread_rows(asked, text, row, why)


def _unread_rows(asked: str, text: str, form: re.Pattern[str], why: str) -> Iterator[Unread]:
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not form.fullmatch(line):
            yield Unread(f"{asked}, line {number}", line, why)


def _unread_json(asked: str, text: str) -> Iterator[Unread]:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        line = text.splitlines()[error.lineno - 1 : error.lineno]
        why = f"JSON was expected: {error.msg} at column {error.colno}"
        yield Unread(f"{asked}, line {error.lineno}", "".join(line), why)
    except RecursionError:
        yield Unread(asked, text, "it is nested too deeply")
