"""Reads a drive report, whatever program made it, and says what a file is that is none.

Read: smartctl's JSON and text, nvme-cli's health log as JSON, verbose JSON and text. Each reader
says which program, version and form it read (`DriveReport.form`), and what it did not understand.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping

from ssdlab.ground import foreign
from ssdlab.ground.errors import SsdlabError
from ssdlab.real.smart import nvme_cli, smartctl, smartctl_text
from ssdlab.real.smart.report import DriveReport

_MAKE_ONE = (
    f"make a report with: {smartctl.COMMAND} /dev/sda > drive.json, "
    f"or {nvme_cli.COMMAND} > drive.json"
)
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_JSON = re.compile(r"\s*(\{|\[\s*([\[{\]\"]|\d+\s*[,\]]|$))")
_BEGINS = re.compile(r"^smartctl (?:version )?\d|^Smart Log for NVME device", re.MULTILINE)


def read_report(content: object, source: str) -> DriveReport:
    """Read one report.

    Parameters
    ----------
    content
        Parsed JSON.
    source
        The file or device it came from, for messages.

    Raises
    ------
    SsdlabError
        It is no report of smartctl or nvme-cli about one drive; says what it is.
    """
    if isinstance(content, Mapping):
        if nvme_cli.is_json(content):
            return nvme_cli.from_json(content, source)
        is_list = "devices" in content and "device" not in content
        if ("smartctl" in content or "device" in content) and not is_list:
            return smartctl.from_smartctl(content, source)
    raise _none(source, foreign.of_json(content))


def read_file(content: bytes, source: str) -> DriveReport:
    """Read one report from what a file holds: JSON or text, UTF-8 or UTF-16.

    Raises
    ------
    SsdlabError
        It is no report about one drive; says what it is, and where it breaks off.
    """
    text = _decoded(content, source)
    if _JSON.match(text):
        return read_report(parse(text, source), source)
    reports = len(_BEGINS.findall(text))
    if reports > 1:
        second = text[: list(_BEGINS.finditer(text))[1].start()].count("\n") + 1
        raise SsdlabError(
            f"{source}: line {second}: here begins the second of {reports} reports\n"
            "give each drive's report in a file of its own"
        )
    if nvme_cli.is_text(text):
        return nvme_cli.from_text(text, source)
    if smartctl_text.is_text(text):
        return smartctl_text.from_text(text, source)
    if text.strip() in ("null", "true", "false") or text.strip().startswith('"'):
        return read_report(parse(text, source), source)
    complaint = re.search(
        r"^.*(failed: .*|Permission denied|Unable to detect).*$", text, re.MULTILINE
    )
    if reports and complaint:
        raise SsdlabError(
            f"{source}: smartctl read no drive; it said: {complaint[0]}\nrun it as root"
        )
    raise _none(source, foreign.of_text(text))


def _none(source: str, what: str) -> SsdlabError:
    return SsdlabError(f"{source}: not a drive report: it is {what}\n{_MAKE_ONE}")


def _decoded(content: bytes, source: str) -> str:
    encoding = "utf-16" if content.startswith(_UTF_16) else "utf-8-sig"
    what = foreign.of_bytes(content)
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        # A degree sign of another encoding is no reason to refuse a text.
        text = content.decode("latin-1") if b"\0" not in content else ""
        if what or not text or sum(byte > 126 for byte in content) > len(content) // 20:
            because = what or f"binary data (byte {error.start})"
            raise _none(source, because) from None
    if what or "\0" in text:
        raise _none(source, what or "binary data, which has zero bytes")
    return text


def parse(text: str | bytes, source: str) -> object:
    """Read JSON.

    Raises
    ------
    SsdlabError
        It is none; says where it breaks off.
    """
    try:
        return json.loads(text)
    except UnicodeDecodeError:
        raise _none(source, "binary data, not JSON") from None
    except RecursionError:
        raise SsdlabError(f"{source}: nested too deeply for a report about a drive") from None
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            raise SsdlabError(
                f"{source}: line {error.lineno}: something follows the first report\n"
                "give each drive's report in a file of its own"
            ) from None
        raise SsdlabError(
            f"{source}: line {error.lineno}: not whole JSON: {error.msg}\n{_MAKE_ONE}"
        ) from None
    except ValueError as error:
        raise SsdlabError(f"{source}: not whole JSON (a number: {error})\n{_MAKE_ONE}") from None
