"""What a report cannot tell: always said, and said of these very results where they show it."""

from __future__ import annotations

from collections.abc import Sequence

from ssdlab.ground import text
from ssdlab.report.runs import Run

HOST = (
    "The host takes only the time that the layers of a stack state: the latencies do not include "
    "system calls, interrupts, file system and page cache."
)
ALWAYS = (
    "The drives are models, not copies of a maker's firmware. Shapes and ratios are more "
    "reliable than absolute figures, and the last digit of a figure means little.",
    "A conclusion from an assumed parameter is only as good as the assumption: change it with "
    "--set and see whether the conclusion holds. The model does not predict what a parameter was "
    "fitted to.",
    HOST,
    "Temperature, firmware bugs and background work that a maker does not disclose are not "
    "modelled.",
    "Before you buy, measure the drive itself: with the same job, in the same condition.",
)


def _unmapped(run: Run) -> str | None:
    reads = int(run.lab.get("unmapped_reads") or 0)
    if reads == 0:
        return None
    return (
        f"{run.title}: {text.count(reads)} reads were of addresses never written, or trimmed. A "
        "drive answers these without reading flash, so the figures are too good for real data."
    )


def _not_steady(run: Run) -> str | None:
    reason = run.first.not_steady
    if reason is None:
        return None
    return f"{run.title}: NOT STEADY: steady state was not reached; {reason}."


def _drift(run: Run) -> str | None:
    if not run.first.drifts:
        return None
    return (
        f"{run.title}: {run.first.drift_told}, from the first tenth of the job to the last. Its "
        "figures are means over that; a longer job gives others."
    )


def _interrupted(run: Run) -> str | None:
    if not any(job.interrupted for job in run.jobs):
        return None
    return f"{run.title}: the run was stopped early; its figures cover what it had done by then."


def _fresh_writes(run: Run) -> str | None:
    if run.first.condition not in (None, "fresh") or "write" not in run.first.directions:
        return None
    amplification = run.first.write_amplification
    if not run.lab or amplification is None or amplification > 1.05:
        return None
    return (
        f"{run.title}: the drive was fresh and needed no garbage collection. It will not stay "
        "that fast; compare with --state steady."
    )


_OF_EACH = (_unmapped, _not_steady, _drift, _interrupted)


def of_these(runs: Sequence[Run]) -> list[str]:
    """Return what these results in particular cannot tell."""
    found = [note for run in runs for check in _OF_EACH if (note := check(run))]
    fresh = [note for run in runs if (note := _fresh_writes(run))]
    # One such note says it for all of them.
    found.extend(fresh[:1])
    if runs and all(len(run.jobs) == 1 for run in runs) and any(run.lab for run in runs):
        found.append(
            "Only one seed was run, so the spread between seeds is unknown; run --seed 1-5."
        )
    return found
