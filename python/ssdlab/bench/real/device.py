"""A block device as a target of the performance test.

One object stands for the device through all parts of a plan, so that it is held from the first
purge to the end. What changes meanwhile (temperatures, throttling, bytes written) is in the record
of each step, not in the description, which has to be the same when a run is taken up again.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from ssdlab.bench.plan import Deviation
from ssdlab.bench.real.content import RunCommand, Signature
from ssdlab.bench.real.fio_program import Fio
from ssdlab.bench.real.fio_words import Place
from ssdlab.bench.real.loaded import IDLE_BETWEEN_STEPS, LoadedTarget
from ssdlab.bench.real.loading import Loader
from ssdlab.bench.real.purge import CannotPurge, DriveAnswer, Purger, utilization
from ssdlab.bench.real.safety import Examined, Permission
from ssdlab.bench.real.samples import DeviceBlocks, Samples, Seen
from ssdlab.bench.real.surroundings import Throttle, surroundings
from ssdlab.bench.real.write_cache import Switch
from ssdlab.bench.real.written import Log
from ssdlab.bench.target import Counters, Description, Purged, WriteCache
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.tool import run_to_end
from ssdlab.real.system import LiveSystem, System

_SAMPLE_BYTES = 4096


class DeviceTarget(LoadedTarget):
    """A block device, loaded by fio.

    Parameters
    ----------
    examined
        What was seen of it (`safety.examine`, `safety.permit`).
    permission
        Permission to destroy it; without it, as in a dry run, it can only be described.
    fio
        The program.
    purge
        How it is purged: one of `wishes.WAYS`.
    show_serial
        Whether results tell the serial number.
    system
        The machine.
    run
        Runs a tool.
    """

    def __init__(
        self,
        examined: Examined,
        permission: Permission | None = None,
        *,
        fio: Fio | None = None,
        purge: str = "best",
        show_serial: bool = True,
        system: System | None = None,
        run: RunCommand = run_to_end,
    ) -> None:
        self._node, whole = examined.node, examined.identity
        self._identity = whole if show_serial else whole.blanked()
        self._system, self._run, self._wish = system or LiveSystem(), run, purge
        self._switch = Switch(permission, self._node, whole, self._system, run)
        self._log = Log(self._node, whole, self._system)
        self._throttle = Throttle(self._node, self._system, run)
        self._cache: WriteCache | None = None
        super().__init__(self._node.path, permission, self._made_loader(fio or Fio()))

    def _made_loader(self, fio: Fio) -> Loader:
        path = self._node.path
        engine = fio.working_engine(path, self._identity.logical_block_bytes)
        place = Place(engine, (f"--filename={path}",), self._node.size_bytes)
        return Loader(fio, place, self._log.kernel_bytes, self._told)

    def describe(self) -> Description:
        """Say what it is, and all that surrounds it and stays so while it is measured."""
        return Description(
            kind="block device",
            name=self._node.path,
            model=self._identity.model,
            serial=self._identity.serial,
            firmware=self._identity.firmware,
            capacity_bytes=self._node.size_bytes,
            sector_bytes=self._identity.logical_block_bytes,
            surroundings={
                **surroundings(self._node, self._system),
                "fio": self._loader.fio.version,
                "engine": self._loader.place.engine,
                "speaks": self._identity.kind,
                "is_partition": self._identity.is_partition,
                "physical_block_bytes": self._identity.physical_block_bytes,
            },
        )

    def deviations(self) -> tuple[Deviation, ...]:
        """Say what a real device and fio cannot do as the standard asks."""
        is_on = self._cache.during == "on" if self._cache else self._will_stay_on()
        return tuple(_deviations(is_on, self._identity.is_partition))

    def _will_stay_on(self) -> bool:
        return not self._switch.is_there and self._switch.state() == "on"

    def purge(self) -> Purged:
        """Purge it, and look whether what was written before is gone."""
        permission = self._permission()
        size = max(_SAMPLE_BYTES, self._identity.logical_block_bytes)
        chance = random.SystemRandom().getrandbits(64)
        samples = Samples(DeviceBlocks(permission), self._node.size_bytes, size, chance)
        purger = Purger(permission, self._node, self._identity, self._system, self._run)
        try:
            samples.mark()
            answer = purger.purge(self._wish)
            seen = samples.look()
        except CannotPurge as reason:
            return Purged("nothing", str(reason), "not looked at", proved=False)
        except OSError as error:
            raise SsdlabError(f"{self._node.path}: {error.strerror} while it was purged") from None
        used = utilization(self._node, self._run)
        return purged(answer, seen, used, permission.given_up)

    def counters(self) -> Counters | None:
        """Read the drive's own log, or the kernel's where it has none."""
        return self._log.counters()

    def write_cache_off(self) -> WriteCache:
        """Switch the volatile write cache off, where the drive has a switch."""
        self._cache = self._switch.off()
        return self._cache

    def restore_write_cache(self) -> None:
        """Leave the write cache as it was found."""
        self._switch.restore()

    def close(self) -> None:
        """Leave the cache as it was found; the device is held on until `release`."""
        self._switch.restore()

    def release(self) -> None:
        """Let go of the device."""
        try:
            self.close()
        finally:
            if self._given is not None:
                self._given.close()

    def _told(self) -> dict[str, Any]:
        return {
            "temperatures_celsius": self._throttle.temperatures(),
            "throttling": self._throttle.seen(),
        }


def purged(
    answer: DriveAnswer | None,
    seen: Seen,
    used_blocks: int | None = None,
    given_up: Sequence[Signature] = (),
) -> Purged:
    """Say how a purge went, and whether what was read shows it.

    Parameters
    ----------
    answer
        None where none was wished for.
    seen
        What was read afterwards.
    used_blocks
        What an NVMe namespace counts as used; None where it does not tell.
    given_up
        What the target held before the first purge.
    """
    checked = str(seen)
    if given_up:
        checked += "; given up was " + ", ".join(str(each) for each in given_up)
    if used_blocks is not None:
        checked += f"; the namespace counts {used_blocks} blocks as used"
    if answer is None:
        return Purged("nothing", "no purge was wished for", checked, proved=False)
    # A drive that only changed its key reads as noise; that it is empty, it may tell itself.
    is_empty = seen.shows_a_purge or (seen.unchanged == 0 and used_blocks == 0)
    return Purged(answer.asked, answer.answered, checked, proved=is_empty)


def _deviations(cache_is_on: bool, is_partition: bool) -> Sequence[Deviation]:
    found = [IDLE_BETWEEN_STEPS]
    if cache_is_on:
        found.append(
            Deviation(
                "the volatile write cache is disabled (PTS-E)",
                "it is on: the device has no switch for it, or did not obey",
            )
        )
    if is_partition:
        found.append(
            Deviation(
                "the whole drive is purged and tested",
                "a partition is; the rest of the drive serves as spare area, or is in use",
            )
        )
    return found
