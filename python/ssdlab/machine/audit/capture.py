"""A capture: everything the audit reads, in one file, without what identifies the machine.

Serial numbers, world-wide names, UUIDs and host names are replaced wherever they stand: each by a
word that is the same for the same original, so that the capture still fits together. Kinds of
device-mapper UUIDs (``CRYPT-LUKS2-``, ``LVM-``) stay. Of network mounts the place and kind stay,
not the server, nor options, which may hold names and passwords.
"""

from __future__ import annotations

import json
import platform
import re

from ssdlab.machine.audit.checks import kernel_log
from ssdlab.machine.audit.walk import audit
from ssdlab.real.system import RecordingSystem, System

_IDENTITIES = (
    re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b"),
    re.compile(r"\b[0-9a-fA-F]{32}\b"),
    re.compile(r"\b[0-9A-Za-z]{6}(?:-[0-9A-Za-z]{4}){5}-[0-9A-Za-z]{6}\b"),
    re.compile(r"(?<=LVM-)[0-9A-Za-z]{32,64}"),
    re.compile(r'(?<="serial_number": ")[^"]+'),
    re.compile(r'(?<="serial_number":")[^"]+'),
    re.compile(r"(?<=\"logical_unit_id\": \")[^\"]+"),
    re.compile(r"(?<=/by-id/)[^\s\"\\]+"),
    re.compile(r"\b(?:naa|eui|nvme|t10)\.[0-9A-Za-z._-]{8,}"),
)
_NUMBERS = re.compile(r'("(?:id|oui|eui64|ext_id)"\s*:\s*)\d{5,}')


def _without_server(line: str) -> str:
    """Hide server and options of a network mount in fstab's notation, and what is no mount."""
    words = line.split()
    if len(words) < 3 or words[0].startswith("#"):
        return ""
    if _is_local(words[0]):
        return " ".join(words)
    return f"network {words[1]} {words[2]} defaults"


def _without_source(line: str) -> str:
    """Hide server and options of a network mount in mountinfo's notation."""
    front, dash, back = line.partition(" - ")
    words = back.split()
    if len(words) < 2 or _is_local(words[1]):
        return line
    return f"{front}{dash}{words[0]} network rw"


def _is_local(source: str) -> bool:
    return source.startswith("/dev/") or not re.search(r"[:@\\]|//", source)


def _instructions(line: str) -> str:
    """Keep the CPU's instructions; some machines have their serial number beside them."""
    return line if line.startswith(("flags", "Features")) else ""


_TABLES = {
    "/etc/fstab": _without_server,
    "/proc/self/mountinfo": _without_source,
    "/proc/cpuinfo": _instructions,
}


def capture(system: System) -> str:
    """Audit a machine and keep all that was asked, as JSON without identities."""
    recording = RecordingSystem(system)
    audit(recording)
    for path, hide in _TABLES.items():
        text = recording.files.get(path)
        if text is not None:
            recording.files[path] = "\n".join(map(hide, text.splitlines()))
    # The rest of the kernel's log is nobody's business.
    for words in (kernel_log.JOURNAL, kernel_log.DMESG):
        if log := recording.commands.get(" ".join(words)):
            recording.commands[" ".join(words)] = kernel_log.interesting(log)
    content = {
        "files": recording.files,
        "folders": recording.folders,
        "commands": recording.commands,
        "links": recording.links,
        "running": recording.running,
        "samples": {
            place: None if found is None else found.to_data()
            for place, found in recording.samples.items()
        },
        "gave_up": recording.gave_up(),
    }
    return scrub(json.dumps(content, indent=1, sort_keys=True), platform.node()) + "\n"


def scrub(text: str, host: str = "") -> str:
    """Replace what identifies a machine.

    Examples
    --------
    >>> scrub('"CRYPT-LUKS2-0123456789abcdef0123456789abcdef-home" on box', "box")
    '"CRYPT-LUKS2-ident1-home" on host'
    """
    words: dict[str, str] = {}

    def replace(found: re.Match[str]) -> str:
        return words.setdefault(found[0], f"ident{len(words) + 1}")

    # Inside JSON's strings quotes are escaped; both spellings are looked for.
    for pattern in _IDENTITIES:
        text = pattern.sub(replace, text)
    text = re.sub(r'(\\"serial_number\\":\s*\\")[^"\\]+', r"\1ident", text)
    text = re.sub(r'(\\"logical_unit_id\\":\s*\\")[^"\\]+', r"\1ident", text)
    text = _NUMBERS.sub(r"\g<1>0", text)
    if len(host) > 2:
        text = re.sub(rf"\b{re.escape(host)}\b", "host", text)
    return text
