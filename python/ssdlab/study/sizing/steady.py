"""Runs a job on a drive, or an array of drives, that was brought into its state alone.

The drive comes from the user's cache, or is kept there; where it cannot be kept, it lies in a
temporary file for as long as the run lasts. So layers and the job's reads play no part in its
state, whichever way it comes about.
"""

from __future__ import annotations

from ssdlab import engine
from ssdlab.engine import Progress
from ssdlab.engine.request import RunRequest
from ssdlab.engine.result import Result
from ssdlab.experiment import runner
from ssdlab.experiment.cache import conditioned

_CONDITIONING_SHARE = 0.8


def run_on(season: RunRequest, request: RunRequest, progress: Progress) -> Result:
    """Run a job on a drive that is brought into its state first.

    Parameters
    ----------
    season
        What brings a drive into its state.
    request
        What is run on it, with the layers that lie over it.

    Raises
    ------
    SsdlabError
        The drive cannot be made so.
    Stopped
        `progress` returned False.
    """

    def before(phase: str, share: float) -> bool:
        return progress(phase, share * _CONDITIONING_SHARE)

    def after(phase: str, share: float) -> bool:
        return progress(phase, _CONDITIONING_SHARE + share * (1 - _CONDITIONING_SHARE))

    kept = conditioned(season, before)
    if kept is not season:
        return runner.whole(engine.run(request.on(kept.drive), after), request.job_name)
    found: list[Result] = []
    chain = runner.Chain((("", request),), season)
    runner.perform(chain, progress, lambda _, result: found.append(result))
    return found[0]
