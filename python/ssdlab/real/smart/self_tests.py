"""Self-tests that failed, from the logs of ATA, SCSI and NVMe in smartctl's JSON.

Codes and results are those of ACS, SPC and NVMe's log 06h, names those of smartctl's source of
August 2026. A failure counts until an extended test after it passed; of ATA smartctl counts itself.
How a test ends that is in none of the standards is kept as unread. Left out: tests under way.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from ssdlab.real.smart.told import Told

_LARGEST = 255
_EXECUTION_FAILED = range(3 << 4, 9 << 4)
"""ATA's self-test execution status: above the tenths that are left, 3 to 8 are failures."""
_SCSI_FAILED, _SCSI_ENDS = range(3, 8), (*range(8), 15)
_NVME_FAILED, _NVME_ENDS = range(5, 8), (*range(10), 15)
_SCSI_EXTENDED, _NVME_EXTENDED = (2, 6), (2,)
"""Codes of the tests that read all of the drive: in the background, in the foreground."""
_ATA_LOG = frozenset(
    ("revision", "sectors", "table", "count", "error_count_total", "error_count_outdated")
)
_SCSI_TEST = frozenset(
    (
        "code result failed_segment self_test_in_progress power_on_time lba_first_failure "
        "sense_key asc ascq vendor_specific"
    ).split()
)
_NVME_LOG = frozenset(
    ("nsid current_self_test_operation current_self_test_completion_percent table").split()
)
_NVME_TEST = frozenset(
    (
        "self_test_code self_test_result power_on_hours segment nsid lba status_code_type "
        "status_code"
    ).split()
)
_NUMBERED = re.compile(r"scsi_self_test_(\d+)")


def failed_self_tests(told: Told, numbered: Told) -> int | None:
    """Count those that failed; None where the drive tells of no test.

    Parameters
    ----------
    told
        The report, without what smartctl numbers entry by entry.
    numbered
        The whole report.
    """
    counts = [count for count in (_ata(told), _scsi(numbered), _nvme(told)) if count is not None]
    return sum(counts) if counts else None


def _ata(told: Told) -> int | None:
    """Count those of the log that knows most; the last test's own end tells where none does."""
    logs = told.part("ata_smart_self_test_log").only(("standard", "extended"))
    counts = [_in_ata_log(logs.part(name)) for name in ("extended", "standard")]
    ended = told.part("ata_smart_data").part("self_test").part("status").number("value", _LARGEST)
    spans = told.part("ata_smart_selective_self_test_log").rows("table")
    # Each span has the status of the last test; those that it did not test say so.
    tested = (span.part("status") for span in spans)
    ends = [
        span.number("value", _LARGEST) for span in tested if span.text("string") != "Not_testing"
    ]
    if any(end in _EXECUTION_FAILED for end in (ended, *ends) if end is not None):
        counts.append(1)
    return max((count for count in counts if count is not None), default=None)


def _in_ata_log(log: Told) -> int | None:
    if not log:
        return None
    failed = log.only(_ATA_LOG).number("error_count_total")
    if failed is not None:
        return max(failed - (log.number("error_count_outdated") or 0), 0)
    ends = (test.part("status").number("value", _LARGEST) for test in log.rows("table"))
    return sum(end in _EXECUTION_FAILED for end in ends if end is not None)


def _scsi(numbered: Told) -> int | None:
    places = sorted(int(key[1]) for name in numbered.names() if (key := _NUMBERED.fullmatch(name)))
    tests = [numbered.part(f"scsi_self_test_{place}").only(_SCSI_TEST) for place in places]
    ends = ((_code(test, "code"), _end(test, "result", _SCSI_ENDS)) for test in tests)
    return _failed(ends, _SCSI_FAILED, _SCSI_EXTENDED) if tests else None


def _nvme(told: Told) -> int | None:
    log = told.part("nvme_self_test_log").only(_NVME_LOG)
    ends = [
        (_code(test, "self_test_code"), _end(test, "self_test_result", _NVME_ENDS))
        for test in log.rows("table")
        if test.only(_NVME_TEST)
    ]
    return _failed(ends, _NVME_FAILED, _NVME_EXTENDED) if log else None


def _code(test: Told, key: str) -> int | None:
    return test.part(key).only(("value", "string")).number("value", _LARGEST)


def _end(test: Told, key: str, known: Collection[int]) -> int | None:
    """Read how a test ended; what is missing or in no standard is noted."""
    result = test.part(key).only(("value", "string"))
    end = result.number("value", _LARGEST)
    if not result.has("value") or (end is not None and end not in known):
        result.note("value", "a self-test ended in a way that is not known here")
    return end


def _failed(
    tests: Iterable[tuple[int | None, int | None]],
    failed: Collection[int],
    extended: Collection[int],
) -> int:
    """Count failures of tests, the newest first, up to an extended one that passed."""
    count = 0
    for code, end in tests:
        if end == 0 and code in extended:
            break
        count += end in failed
    return count
