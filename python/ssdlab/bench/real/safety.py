"""Permission to destroy what is on a real target, given here and nowhere else.

The rule: a target is written only if ``--destroy`` names it. A device that is in use in any way is
refused, and nothing overrules that. A device that is not in use but holds something (a partition
table, a file system, the mark of an array, a volume group, a pool) has to be named once more, by
``--destroy-content``. The device is opened exclusively (``O_EXCL``, which the kernel grants to one
holder: mounts, swap, md, device-mapper and ZFS hold theirs so), looked at while it is held, and
held until the bench is done, so that nobody can mount it meanwhile.

Whatever writes to a real target takes a `Permission`, and only `permit` makes one. A permission
knows the device by its number: a node that leads elsewhere by now is refused.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from ssdlab.bench.real.claims import Claim, claims, file_claims, writers
from ssdlab.bench.real.content import Signature, signatures
from ssdlab.bench.real.identity import DeviceIdentity, identify
from ssdlab.bench.real.node import Node, find_node, number_of
from ssdlab.ground.errors import SsdlabError
from ssdlab.real.system import LiveSystem, System

_LOOKED_AT_BYTES = 1 << 20
_KEY = object()
"""Known to this module alone."""


class Refused(SsdlabError):
    """A target that is not written to; the message says why, and that nothing was written."""


class Permission:
    """Permission to destroy all data of one target; made by `permit` and `permit_export`.

    Parameters
    ----------
    key
        What only this module has.
    place
        The device's node, or the export's URI.
    number
        The device's number, or a file's; empty for an export.
    descriptor
        The device, opened exclusively, for reading and writing around the page cache; None for an
        export.
    size_bytes
        Its size.
    given_up
        What it holds that is given up.
    """

    def __init__(
        self,
        key: object,
        place: str,
        number: str,
        descriptor: int | None,
        size_bytes: int,
        given_up: Sequence[Signature] = (),
    ) -> None:
        if key is not _KEY:
            raise TypeError(
                "permission to destroy is given by ssdlab.bench.real.safety.permit alone"
            )
        self.place = place
        self.number = number
        self.size_bytes = size_bytes
        self.given_up = tuple(given_up)
        self._descriptor = descriptor
        self._is_open = True

    @property
    def is_export(self) -> bool:
        """Whether it is an export that a server gives, and no device of this machine."""
        return not self.number

    @property
    def descriptor(self) -> int:
        """The device, opened exclusively.

        Raises
        ------
        Refused
            It was given back, or is no device.
        """
        self.check()
        if self._descriptor is None:
            raise Refused(f"{self.place}: an export has no device; nothing was written")
        return self._descriptor

    def check(self) -> None:
        """Make sure that it still holds, just before something is destroyed.

        Raises
        ------
        Refused
            It was given back, or the node leads to another device by now.
        """
        if not self._is_open:
            raise Refused(
                f"{self.place}: permission to destroy it was given back; nothing was written"
            )
        if self.number and _number_now(self.place) != self.number:
            raise Refused(
                f"{self.place}: is {_called(_number_now(self.place))} by now, and permission was "
                f"given for {self.number}; nothing was written"
            )

    def hand_over(self) -> None:
        """Let something else that was told to by the user take the exclusive claim: a mapping."""
        self.check()
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def close(self) -> None:
        """Give it back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        self._is_open = False

    def __enter__(self) -> Permission:
        """Return the permission."""
        return self

    def __exit__(self, *_error: object) -> None:
        """Give it back."""
        self.close()


@dataclass(frozen=True)
class Examined:
    """What was found of a device before anything is done to it.

    Attributes
    ----------
    node
        The device.
    identity
        Which drive it is.
    claims
        Who uses it: any of them refuses it.
    content
        What it holds: it has to be named once more.
    """

    node: Node
    identity: DeviceIdentity
    claims: Sequence[Claim] = field(default_factory=tuple)
    content: Sequence[Signature] = field(default_factory=tuple)


def _show_nothing(_lines: Sequence[str]) -> None:
    """Show nothing."""


ShowLines = Callable[[Sequence[str]], None]


def examine(path: str, show: ShowLines = _show_nothing, system: System | None = None) -> Examined:
    """Look at a device without permission to write, as a dry run does.

    Parameters
    ----------
    path
        Any name of it.
    show
        Is handed the lines that say which drive it is, before all else.
    system
        The machine; by default this one.

    Raises
    ------
    SsdlabError
        It is no block device, or it cannot be told what it holds.
    """
    node, identity, found = _looked_up(path, show, system or LiveSystem())
    # A user who may not read the device can still be told that it is in use.
    content = [] if found else signatures(node)
    return Examined(node, identity, found, content)


def _looked_up(
    path: str, show: ShowLines, system: System
) -> tuple[Node, DeviceIdentity, list[Claim]]:
    node = find_node(path, system)
    identity = identify(node, system)
    show(identity.lines())
    return node, identity, [*claims(node, system), *writers(node)]


def permit(
    path: str,
    destroy: Sequence[str],
    destroy_content: Sequence[str] = (),
    show: ShowLines = _show_nothing,
    system: System | None = None,
) -> tuple[Permission, Examined]:
    """Give permission to destroy what is on a block device.

    Parameters
    ----------
    path
        Any name of it.
    destroy
        The devices that ``--destroy`` names.
    destroy_content
        The devices that ``--destroy-content`` names, although something is on them.
    show
        Is handed the lines that say which drive it is, before all else.
    system
        The machine; by default this one.

    Raises
    ------
    Refused
        It is not named, is in use, holds something, or cannot be opened exclusively.
    SsdlabError
        It is no block device, or it cannot be told what it holds.
    """
    node, identity, found = _looked_up(path, show, system or LiveSystem())
    if found:
        raise in_use(path, found)
    if not _names(destroy, node):
        raise _not_named(path, "--destroy", "every byte of it would be overwritten")
    if node.size_bytes == 0:
        raise Refused(f"{path}: has no bytes; nothing was written")
    descriptor = _open_exclusively(node)
    try:
        content = signatures(node)
        if content and not _names(destroy_content, node):
            raise _holds(path, content)
        permission = Permission(_KEY, node.path, node.number, descriptor, node.size_bytes, content)
    except BaseException:
        os.close(descriptor)
        raise
    return permission, Examined(node, identity, (), content)


def permit_export(
    uri: str,
    size_bytes: int,
    content: Sequence[Signature],
    destroy: Sequence[str],
    destroy_content: Sequence[str] = (),
) -> Permission:
    """Give permission to destroy an NBD export; only its server knows who else uses it.

    Parameters
    ----------
    uri
        The export.
    size_bytes
        Its size.
    content
        What it holds.
    destroy, destroy_content
        The exports that the options name.

    Raises
    ------
    Refused
        It is not named, or holds something.
    """
    if uri not in destroy:
        raise _not_named(uri, "--destroy", "every byte of it would be overwritten")
    if content and uri not in destroy_content:
        raise _holds(uri, content)
    return Permission(_KEY, uri, "", None, size_bytes, content)


def permit_file(
    path: str,
    destroy: Sequence[str],
    destroy_content: Sequence[str] = (),
    system: System | None = None,
) -> Permission:
    """Give permission to overwrite a regular file.

    Parameters
    ----------
    path
        The file, which exists.
    destroy, destroy_content
        The files that the options name.
    system
        The machine; by default this one.

    Raises
    ------
    Refused
        It is not named, is below a loop device or is swap, or holds data.
    """
    found = os.path.realpath(path)
    if not os.path.isfile(found):
        raise Refused(f"{path}: no regular file, and no device; nothing was written")
    used = file_claims(found, system or LiveSystem())
    if used:
        raise in_use(path, used)
    if path not in destroy:
        raise _not_named(path, "--destroy", "its bytes would be overwritten")
    if os.stat(found).st_size == 0:
        raise Refused(f"{path}: has no bytes; fallocate -l 10G {path} gives it some")
    if os.stat(found).st_blocks and not _is_empty(found) and path not in destroy_content:
        raise _holds(path, [Signature(path, "data", 0)])
    return Permission(_KEY, found, _number_now(found), None, os.stat(found).st_size)


def _number_now(path: str) -> str:
    """Return what a device or a regular file is known by, whatever leads to it."""
    try:
        found = os.stat(path)
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}; nothing was written") from None
    if stat.S_ISREG(found.st_mode):
        return f"inode {found.st_ino} of {found.st_dev}"
    return number_of(path)


def _called(number: str) -> str:
    return number if number.startswith("inode") else f"device {number}"


def _is_empty(path: str) -> bool:
    with open(path, "rb") as file:
        return not any(file.read(_LOOKED_AT_BYTES))


def _names(words: Sequence[str], node: Node) -> bool:
    """Tell whether one of the words is a name of the device; one that is no device is none."""
    for word in words:
        try:
            if number_of(word) == node.number:
                return True
        except SsdlabError:
            continue
    return False


def _open_exclusively(node: Node) -> int:
    try:
        descriptor = os.open(node.path, os.O_RDWR | os.O_EXCL | os.O_DIRECT | os.O_CLOEXEC)
    except OSError as error:
        why = error.strerror
        if error.errno == errno.EBUSY:
            why = "something holds it that is not seen from here (a mount elsewhere, a ZFS pool)"
        raise Refused(
            f"{node.path}: cannot be opened exclusively: {why}; nothing was written"
        ) from None
    found = os.fstat(descriptor).st_rdev
    if f"{os.major(found)}:{os.minor(found)}" != node.number:
        os.close(descriptor)
        raise Refused(f"{node.path}: became another device meanwhile; nothing was written")
    return descriptor


def in_use(path: str, found: Sequence[Claim]) -> Refused:
    """Make the refusal of a device that is in use."""
    lines = [f"{path}: is in use, so it is refused; nothing was written"]
    lines += [f"  {claim.what}: {claim.remedy}" for claim in found]
    return Refused("\n".join(lines))


def _not_named(path: str, option: str, why: str) -> Refused:
    return Refused(f"{path}: {why}; nothing was written\nname it to allow that: {option} {path}")


def _holds(path: str, content: Sequence[Signature]) -> Refused:
    lines = [f"{path}: is not empty, so it is refused; nothing was written"]
    lines += [f"  {each}" for each in content]
    lines.append(f"name it once more to give that up: --destroy-content {path}")
    return Refused("\n".join(lines))
