"""What can go wrong in a way that the caller can mend, or has asked for."""


class SsdlabError(Exception):
    """What the user can mend: the message names the place, the value and the remedy."""


class Stopped(Exception):
    """The run was asked to stop before it had finished."""


class DiskError(SsdlabError):
    """A command that a drive with bytes did not carry out."""


class MediaError(DiskError):
    """A sector cannot be read."""


class ReadOnlyError(DiskError):
    """The drive takes no more writes: its spare is used up."""


class OutOfRangeError(DiskError):
    """The command reaches beyond the end of the drive."""


class UnalignedError(DiskError):
    """The command does not cover whole sectors."""


class BusyError(DiskError):
    """The drive has as many commands under way as it takes."""


class DroppedError(DiskError):
    """The power was cut while the command was under way, so that it never ends."""


KINDS: dict[str, type[DiskError]] = {
    "media": MediaError,
    "read-only": ReadOnlyError,
    "out of range": OutOfRangeError,
    "unaligned": UnalignedError,
    "busy": BusyError,
    "dropped": DroppedError,
    "other": DiskError,
}
"""What the engine calls them."""
