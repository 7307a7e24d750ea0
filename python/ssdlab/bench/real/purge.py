"""Ways to purge a real drive: what is asked of it, and what it answers.

In the order in which they are tried: NVMe's Format with user data erase, ATA's Security Erase Unit
(followed by a discard, because a drive that encrypts itself may only have changed its key), and a
discard of every block. NVMe's Sanitize is used only where it is wished for: it cannot be stopped,
and concerns every namespace. A way that would reach beyond the target (a partition's drive, other
namespaces) is not taken. `samples` tells whether it worked; the drive's answer alone does not.

Left out: SCSI's SANITIZE and FORMAT UNIT (SAS drives are discarded), TCG's revert.
"""

from __future__ import annotations

import fcntl
import json
import re
import struct
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.bench.real.content import RunCommand
from ssdlab.bench.real.identity import DeviceIdentity
from ssdlab.bench.real.node import Node, controllers
from ssdlab.bench.real.safety import Permission
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.tool import Ended, GaveUp
from ssdlab.real.device import whole
from ssdlab.real.system import System

"""What `--purge` takes."""
_BLKDISCARD = 0x1277
"""_IO(0x12, 119), linux/fs.h."""
_DISCARD_STEP = 16 << 30
_ASK_S = 60.0
_LOOK_S = 1.0
_PASSWORD = "ssdlab"
_FORMAT, _FORMATS_ALL, _ERASES_ALL, _CAN_BLOCK_ERASE = 1 << 1, 1 << 0, 1 << 1, 1 << 1


class CannotPurge(SsdlabError):
    """A way that is not there, or that failed; the message is the reason."""


@dataclass(frozen=True)
class DriveAnswer:
    """What was asked of a drive, and what it said.

    Attributes
    ----------
    asked
        The command.
    answered
        Its answer, in one line.
    """

    asked: str
    answered: str


class Purger:
    """Purges one block device.

    Parameters
    ----------
    permission
        Permission to destroy what is on it.
    node, identity
        The device.
    system
        The machine.
    run
        Runs a tool.
    """

    def __init__(
        self,
        permission: Permission,
        node: Node,
        identity: DeviceIdentity,
        system: System,
        run: RunCommand,
    ) -> None:
        self._permission = permission
        self._node, self._identity = node, identity
        self._system, self._run = system, run

    def purge(self, wish: str = "best") -> DriveAnswer | None:
        """Try the ways in their order until one is carried out.

        Returns
        -------
        DriveAnswer or None
            None where none was wished for.

        Raises
        ------
        CannotPurge
            None could be; with the reason of each.
        """
        if wish == "none":
            return None
        reasons = []
        for name, way in self._ways(wish):
            try:
                return way()
            except CannotPurge as reason:
                reasons.append(f"{name}: {reason}")
        raise CannotPurge("; ".join(reasons))

    def _ways(self, wish: str) -> list[tuple[str, Callable[[], DriveAnswer]]]:
        known: dict[str, Callable[[], DriveAnswer]] = {
            "format": self._format,
            "erase": self._erase,
            "discard": self._discard,
            "sanitize": self._sanitize,
        }
        if wish != "best":
            return [(wish, known[wish])]
        first = {"nvme": ["format"], "sata": ["erase"]}.get(self._identity.kind, [])
        return [(name, known[name]) for name in [*first, "discard"]]

    def _discard(self) -> DriveAnswer:
        """Discard every block, a piece at a time so that Ctrl-C is heard."""
        if not whole(self._node.queue(self._system, "discard_max_bytes")):
            raise CannotPurge("the device takes no discards (discard_max_bytes is 0)")
        size = self._permission.size_bytes
        try:
            for begin in range(0, size, _DISCARD_STEP):
                length = min(_DISCARD_STEP, size - begin)
                area = struct.pack("QQ", begin, length)
                fcntl.ioctl(self._permission.descriptor, _BLKDISCARD, area)
        except OSError as error:
            raise CannotPurge(f"BLKDISCARD at byte {begin}: {error.strerror}") from None
        return DriveAnswer(f"blkdiscard {self._node.path}", f"{size} bytes were discarded")

    def _format(self) -> DriveAnswer:
        others = self._other_namespaces()
        told = self._controller()
        if not _bits(told, "oacs") & _FORMAT:
            raise CannotPurge("the controller does not format (oacs bit 1 is 0)")
        if others and _bits(told, "fna") & (_FORMATS_ALL | _ERASES_ALL):
            raise CannotPurge(f"a format would reach {', '.join(others)} too (fna)")
        return self._destroy(["nvme", "format", self._node.path, "--ses=1", "--force"])

    def _sanitize(self) -> DriveAnswer:
        others = self._other_namespaces()
        told = self._controller()
        if others:
            raise CannotPurge(f"a sanitize would reach {', '.join(others)} too")
        if not _bits(told, "sanicap") & _CAN_BLOCK_ERASE:
            raise CannotPurge("the controller does not erase blocks (sanicap bit 1 is 0)")
        controller = controllers(self._node, self._system)[0]
        answer = self._destroy(["nvme", "sanitize", controller, "--sanact=2"])
        self._await_sanitize(controller)
        return answer

    def _await_sanitize(self, controller: str) -> None:
        """Wait until the log says that the last sanitize was completed (SSTAT bits 2:0 are 1)."""
        while True:
            ended = self._ask(["nvme", "sanitize-log", controller, "--output-format=json"])
            state = _number_of(ended.output, "sstat")
            if state is None or state & 7 == 3:
                raise CannotPurge(f"the sanitize failed: {ended.complaint}")
            if state & 7 in (1, 4):
                return
            time.sleep(_LOOK_S)

    def _erase(self) -> DriveAnswer:
        self._check_whole()
        self._check_security()
        words = ["hdparm", "--user-master", "u"]
        self._destroy([*words, "--security-set-pass", _PASSWORD, self._node.path])
        try:
            answer = self._destroy([*words, "--security-erase", _PASSWORD, self._node.path])
        except CannotPurge as reason:
            raise CannotPurge(
                f"{reason}; the drive keeps the password {_PASSWORD}: "
                f"hdparm --user-master u --security-disable {_PASSWORD} {self._node.path}"
            ) from None
        return self._then_discard(answer)

    def _check_security(self) -> None:
        """Make sure that the drive has ATA's security feature, and that nothing bars it."""
        state = security_of(self._ask(["hdparm", "-I", self._node.path]).output)
        wrong = [word for word in ("enabled", "locked", "frozen") if state.get(word)]
        if not state.get("supported"):
            raise CannotPurge("the drive has no ATA security feature")
        if wrong:
            raise CannotPurge(
                f"the drive's security is {' and '.join(wrong)}; "
                "ssdlab align starting-over tells what to do"
            )

    def _then_discard(self, answer: DriveAnswer) -> DriveAnswer:
        try:
            more = self._discard()
        except CannotPurge as reason:
            return DriveAnswer(answer.asked, f"{answer.answered}; {reason}")
        return DriveAnswer(f"{answer.asked}; {more.asked}", f"{answer.answered}; {more.answered}")

    def _check_whole(self) -> None:
        if self._node.is_partition:
            raise CannotPurge(f"it would reach all of {self._node.drive}, not the partition alone")

    def _other_namespaces(self) -> list[str]:
        """Name the namespaces beside this one, by the names that Linux gives them."""
        self._check_whole()
        if not self._node.is_nvme:
            raise CannotPurge("it is no NVMe drive")
        mine = self._node.drive.rpartition("n")[0]
        names = self._system.entries("/sys/block")
        same = (name for name in names if re.fullmatch(rf"{re.escape(mine)}n\d+", name))
        return [name for name in same if name != self._node.drive]

    def _controller(self) -> Mapping[str, Any]:
        ended = self._ask(["nvme", "id-ctrl", self._node.path, "--output-format=json"])
        return _mapping(ended.output) or {}

    def _ask(self, words: Sequence[str]) -> Ended:
        """Ask the drive something; nothing is changed by it."""
        return self._told(words, _ASK_S)

    def _destroy(self, words: Sequence[str]) -> DriveAnswer:
        """Carry out what destroys data, however long it takes."""
        self._permission.check()
        ended = self._told(words, None)
        return DriveAnswer(
            " ".join(words), " ".join(ended.output.split()) or "done, without a word"
        )

    def _told(self, words: Sequence[str], timeout_s: float | None) -> Ended:
        try:
            ended = self._run(words, timeout_s)
        except FileNotFoundError:
            raise CannotPurge(f"{words[0]} was not found; install it") from None
        except (GaveUp, OSError) as reason:
            raise CannotPurge(f"{' '.join(words)}: {reason}") from None
        if ended.code != 0:
            raise CannotPurge(f"{' '.join(words)}: {ended.complaint}")
        return ended


def security_of(told: str) -> dict[str, bool]:
    r"""Read the Security section of ``hdparm -I``.

    Examples
    --------
    >>> security_of("Security: \n\t\tsupported\n\tnot\tenabled\n\t\tfrozen\n")
    {'supported': True, 'enabled': False, 'frozen': True}
    """
    found: dict[str, bool] = {}
    section = told.partition("Security:")[2]
    for line in section.splitlines():
        words = line.split()
        if words and words[-1] in ("supported", "enabled", "locked", "frozen"):
            if len(words) == 1 or (len(words) == 2 and words[0] == "not"):
                found.setdefault(words[-1], len(words) == 1)
    return found


def utilization(node: Node, run: RunCommand) -> int | None:
    """Give the blocks that an NVMe namespace counts as used; None where it does not tell."""
    if not node.is_nvme or node.is_partition:
        return None
    try:
        ended = run(("nvme", "id-ns", node.path, "--output-format=json"), _ASK_S)
    except (GaveUp, OSError):
        return None
    return _number_of(ended.output, "nuse") if ended.code == 0 else None


def _bits(told: Mapping[str, Any], key: str) -> int:
    value = told.get(key)
    return value if isinstance(value, int) else 0


def _mapping(text: str) -> Mapping[str, Any] | None:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return content if isinstance(content, Mapping) else None


def _number_of(text: str, key: str) -> int | None:
    """Find a number in JSON, by its name, at the top or one level below."""
    content = _mapping(text) or {}
    for part in (content, *(each for each in content.values() if isinstance(each, Mapping))):
        value = part.get(key)
        if isinstance(value, int) and not isinstance(value, bool):
            return value
    return None
