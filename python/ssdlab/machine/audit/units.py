"""Whether systemd starts a unit: wanted by a target, and not masked."""

from __future__ import annotations

from ssdlab.real.system import System

_FOLDERS = ("/etc/systemd/system", "/run/systemd/system")
_WANTS = (
    "/etc/systemd/system/{target}.wants/{unit}",
    "/usr/lib/systemd/system/{target}.wants/{unit}",
    "/lib/systemd/system/{target}.wants/{unit}",
)
_TARGETS = ("timers.target", "mdmonitor.service")


def is_masked(system: System, unit: str) -> bool:
    """Whether a unit is linked to nothing, so that whatever wants it does not get it."""
    for folder in _FOLDERS:
        path = f"{folder}/{unit}"
        # A link to /dev/null, or an empty file, which systemd takes for the same.
        if system.read(path) == "" or system.real(path) == "/dev/null":
            return True
    return False


def is_enabled(system: System, unit: str) -> bool:
    """Whether something that is started wants a unit."""
    places = (place.format(target=target, unit=unit) for place in _WANTS for target in _TARGETS)
    return not is_masked(system, unit) and any(system.read(place) for place in places)
