"""What a block device and an NBD export have in common as targets: fio loads them.

Neither can be kept: what a drive or a server holds goes on as it is.
"""

from __future__ import annotations

from pathlib import Path

from ssdlab.bench.estimate import Speeds
from ssdlab.bench.measurement import StepMeasurement
from ssdlab.bench.plan import Deviation, Step
from ssdlab.bench.real.loading import Loader
from ssdlab.bench.real.probe import speeds
from ssdlab.bench.real.safety import Permission, Refused
from ssdlab.bench.target import Resumption
from ssdlab.engine import Progress
from ssdlab.ground.errors import SsdlabError


class LoadedTarget:
    """A target that fio loads.

    Parameters
    ----------
    name
        Its node, or its URI.
    permission
        Permission to destroy it; without it, as in a dry run, it can only be described.
    loader
        Carries out steps on it.
    """

    resumption: Resumption = "as it is"

    def __init__(self, name: str, permission: Permission | None, loader: Loader) -> None:
        self._name, self._given, self._loader = name, permission, loader

    def speeds(self) -> Speeds | None:
        """Say what is expected of it, from a moment of reading."""
        return speeds(self._loader.fio, self._loader.place)

    def perform(self, step: Step, progress: Progress) -> StepMeasurement:
        """Carry out a step by fio.

        Raises
        ------
        SsdlabError
            fio failed, in its own words; or the kernel saw less written than fio.
        Stopped
            `progress` returned False.
        """
        if step.load.writes:
            self._permission().check()
        return self._loader.perform(step, progress)

    def keep(self, place: Path) -> None:
        """Refuse: the state of a real target cannot be kept."""
        raise SsdlabError(f"{self._name}: the state of a real target cannot be kept ({place})")

    def go_on_from(self, place: Path) -> None:
        """Refuse: the state of a real target cannot be kept."""
        self.keep(place)

    def _permission(self) -> Permission:
        if self._given is None:
            raise Refused(f"{self._name}: no permission to write was given; nothing was written")
        return self._given


IDLE_BETWEEN_STEPS = Deviation(
    "no idle time between steps",
    "fio is started for each step; how long nothing was asked of the target is in the record of "
    "every step (not_loaded_s)",
)
"""Of every target that fio loads."""
