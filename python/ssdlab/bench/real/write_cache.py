"""The drive's volatile write cache: found, switched off, and left as it was found.

It is switched where the drive itself is told: NVMe's feature 06h, ATA's by ``hdparm -W``, SCSI's by
the caching mode page, which the kernel's ``cache_type`` sets. The queue's ``write_cache`` in sysfs
is only what the kernel thinks: writing to it spares flushes and switches nothing off, so it is read
and never written. A device that has no such switch (a loop device, an array, a virtual drive) keeps
its cache, which is a deviation.
"""

from __future__ import annotations

import atexit
import os
import re
from collections.abc import Sequence
from contextlib import suppress

from ssdlab.bench.real.content import RunCommand
from ssdlab.bench.real.identity import DeviceIdentity
from ssdlab.bench.real.node import Node, controllers
from ssdlab.bench.real.safety import Permission, Refused
from ssdlab.bench.target import WriteCache
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.tool import Ended, GaveUp
from ssdlab.real.system import System

_ASK_S = 60.0
_WITH_SWITCH = frozenset({"nvme", "sata", "scsi"})


class Switch:
    """The switch of one drive's cache.

    Parameters
    ----------
    permission
        Permission to change the drive; without it the cache is only looked at.
    node, identity
        The device.
    system
        The machine.
    run
        Runs a tool.
    """

    def __init__(
        self,
        permission: Permission | None,
        node: Node,
        identity: DeviceIdentity,
        system: System,
        run: RunCommand,
    ) -> None:
        self._permission = permission
        self._node, self._kind = node, identity.kind
        self._system, self._run = system, run
        self._found: str | None = None

    def state(self) -> str:
        """Give ``on``, ``off``, or ``none`` where the drive has no volatile cache."""
        if self._kind == "nvme":
            return self._state_of_nvme()
        if self._kind == "sata" and (told := self._state_of_ata()):
            return told
        seen = self._system.read(f"{self._node.drive_folder}/queue/write_cache")
        return "on" if seen == "write back" else "none"

    @property
    def is_there(self) -> bool:
        """Whether the drive has a switch at all."""
        return self._kind in _WITH_SWITCH

    def off(self) -> WriteCache:
        """Switch it off, where there is a switch, and say what is so afterwards."""
        found = self.state()
        if found == "on":
            # Noted first: a signal may come while the drive obeys.
            self._found = found
            atexit.register(self._restore_quietly)
            self._set(False)
            return WriteCache(found, self.state())
        return WriteCache(found, found)

    def restore(self) -> None:
        """Switch it on again, if it was switched off here.

        Raises
        ------
        SsdlabError
            It stays off; says what switches it on.
        """
        if self._found is None:
            return
        atexit.unregister(self._restore_quietly)
        self._set(True)
        if self.state() != "on":
            raise SsdlabError(
                f"{self._node.path}: its write cache was on and stays off\n"
                f"switch it on: {self._in_words(True)}"
            )
        self._found = None

    def _restore_quietly(self) -> None:
        """Restore it where the command ends before its time, with nobody to complain to."""
        with suppress(SsdlabError):
            self.restore()

    def _commands(self, on: bool) -> list[list[str]]:
        """Give what switches it; nothing where there is no command."""
        if self._kind == "nvme":
            # The feature is the controller's, and some refuse to be asked through a namespace.
            words = ["--feature-id=6", f"--value={int(on)}"]
            return [["nvme", "set-feature", each, *words] for each in self._controllers()]
        drive = f"/dev/{self._node.drive}"
        return [["hdparm", f"-W{int(on)}", drive]] if self._kind == "sata" else []

    def _in_words(self, on: bool) -> str:
        lines = [" ".join(words) for words in self._commands(on)]
        return "; ".join(lines) or "with the tool of its maker"

    def _controllers(self) -> list[str]:
        return controllers(self._node, self._system)

    def _set(self, on: bool) -> None:
        if self._permission is None:
            raise Refused(f"{self._node.path}: no permission to change it was given")
        self._permission.check()
        for words in self._commands(on):
            self._ask(words)
        if self._kind == "scsi":
            self._set_scsi("write back" if on else "write through")

    def _set_scsi(self, kind: str) -> None:
        folder = f"{self._node.drive_folder}/device/scsi_disk"
        for address in self._system.entries(folder):
            try:
                place = os.open(f"{folder}/{address}/cache_type", os.O_WRONLY)
            except OSError:
                continue
            try:
                os.write(place, kind.encode())
            except OSError:
                # The drive has no such page; what it does then, `state` tells.
                pass
            finally:
                os.close(place)

    def _state_of_nvme(self) -> str:
        ended = self._ask(["nvme", "get-feature", self._controllers()[0], "--feature-id=6"])
        found = re.search(r"[Vv]alue:\s*(0x[0-9a-fA-F]+|\d+)", ended.output) if ended else None
        if found is None:
            # A controller without a volatile cache refuses the question.
            seen = self._system.read(f"{self._node.drive_folder}/queue/write_cache")
            return "on" if seen == "write back" else "none"
        return "on" if int(found[1], 0) & 1 else "off"

    def _state_of_ata(self) -> str:
        ended = self._ask(["hdparm", "-W", f"/dev/{self._node.drive}"])
        found = re.search(r"write-caching\s*=\s*([01])", ended.output) if ended else None
        return "" if found is None else ("on" if found[1] == "1" else "off")

    def _ask(self, words: Sequence[str]) -> Ended | None:
        try:
            ended = self._run(words, _ASK_S)
        except (GaveUp, OSError):
            return None
        return ended if ended.code == 0 else None
