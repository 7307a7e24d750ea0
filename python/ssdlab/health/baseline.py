"""Errors that are known: counts which a person has seen and accepted, until they grow.

The file is JSON: a drive's identity, and the counts by name.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from ssdlab.errors import SsdlabError
from ssdlab.health.examination import Examination
from ssdlab.input import InputError, read_bytes
from ssdlab.output import PendingFile

Baseline = dict[str, dict[str, int]]


def read_baseline(path: str) -> Baseline:
    """Read a baseline; one that is not there is empty.

    Raises
    ------
    SsdlabError
        It cannot be read, or is no baseline.
    """
    try:
        content = json.loads(read_bytes(path))
    except FileNotFoundError:
        return {}
    except InputError as error:
        raise SsdlabError(f"--baseline {path}: {error}") from None
    except (ValueError, RecursionError):
        raise SsdlabError(f"--baseline {path}: not JSON") from None
    if not isinstance(content, Mapping) or not all(map(_is_counts, content.values())):
        raise SsdlabError(f"--baseline {path}: expected drives with their error counts")
    return {str(drive): dict(counts) for drive, counts in content.items()}


def _is_counts(value: object) -> bool:
    return isinstance(value, Mapping) and all(type(count) is int for count in value.values())


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
