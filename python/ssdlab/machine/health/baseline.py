"""Errors that are known: counts which a person has seen and accepted, until they grow.

The file is JSON: a drive's identity, and the counts by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ssdlab.ground import foreign, json_once
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import InputError, read_bytes
from ssdlab.ground.output import PendingFile
from ssdlab.machine.health.examination import Examination

_MAKE_ONE = "ssdlab health --baseline FILE --acknowledge makes one; leave FILE away for that"
Baseline = dict[str, dict[str, int]]


def read_baseline(path: str) -> Baseline:
    """Read a baseline; one that is not there is empty.

    Raises
    ------
    SsdlabError
        It cannot be read, or is no baseline.
    """
    written = b""
    try:
        written = read_bytes(path)
        content = json_once.loads(written)
    except FileNotFoundError:
        return {}
    except InputError as error:
        raise SsdlabError(f"--baseline {path}: {error}") from None
    except json_once.KeyTwiceError as error:
        raise SsdlabError(f"--baseline {path}: {error}\nleave one out") from None
    except (ValueError, RecursionError):
        what = foreign.of_bytes(written) or foreign.of_text(written.decode("utf-8", "replace"))
        raise SsdlabError(f"--baseline {path}: not JSON: it is {what}\n{_MAKE_ONE}") from None
    if not isinstance(content, Mapping):
        raise SsdlabError(f"--baseline {path}: it is {foreign.of_json(content)}\n{_MAKE_ONE}")
    for drive, counts in content.items():
        if not _is_counts(counts):
            raise SsdlabError(
                f"--baseline {path}: the entry {drive!r} has no error counts; the file is "
                f"{foreign.of_json(content)}\n{_MAKE_ONE}"
            )
    return {str(drive): dict(counts) for drive, counts in content.items()}


def _is_counts(value: object) -> bool:
    if not isinstance(value, Mapping) or not value:
        return False
    return all(type(count) is int and count >= 0 for count in value.values())


def write_baseline(path: str, known: Baseline, examined: Sequence[Examination]) -> int:
    """Add today's counts to a baseline.

    Returns
    -------
    int
        How many counts were added.
    """
    added = 0
    for each in examined:
        counts = [finding.count for finding in each.findings if finding.count]
        if each.report and counts:
            known.setdefault(each.report.identity, {}).update(counts)
            added += len(counts)
    with PendingFile(path, "--baseline") as pending:
        pending.write(json.dumps(known, indent=2, sort_keys=True) + "\n")
    return added
