"""Which target a name means: a simulated drive, a block device or an NBD export.

A real target is one object for all parts of a plan, so that it is held from beginning to end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from ssdlab.bench.real.opening import look, open_real
from ssdlab.bench.real.safety import ShowLines
from ssdlab.bench.real.wishes import Wishes, is_real
from ssdlab.bench.simulated import SimulatedTarget
from ssdlab.bench.target import Target
from ssdlab.engine.request import RunRequest, Settings
from ssdlab.ground.errors import SsdlabError


@dataclass(frozen=True)
class Source:
    """What targets are made from.

    Attributes
    ----------
    make
        Makes one; each stands for the same drive.
    side_by_side
        Several may be measured at once, since each is a copy.
    obstacles
        Why it would be refused, where it was only looked at.
    release
        Lets go of it, when all is done.
    """

    make: Callable[[], Target]
    side_by_side: bool
    obstacles: tuple[str, ...] = ()
    release: Callable[[], None] = lambda: None


def source(
    name: str,
    settings: Settings,
    layers: Sequence[str],
    seed: int,
    wishes: Wishes | None = None,
    show: ShowLines = lambda _lines: None,
) -> Source:
    """Return what a target is made from.

    Parameters
    ----------
    name
        A profile, a profile file, a stack or a drive file; a block device or an NBD URI.
    settings, layers
        As `ssdlab run` takes them.
    seed
        The one source of chance.
    wishes
        What may be done to a real target; None where it is only looked at.
    show
        Is handed the lines that say which drive a real target is.

    Raises
    ------
    SsdlabError
        There is no such drive, or it is refused.
    """
    if is_real(name):
        if settings or layers:
            raise SsdlabError(
                f"{name}: a real drive has no parameters; leave out --set and --layer"
            )
        return _looked_at(name, show) if wishes is None else _opened(name, wishes, show)
    request = RunRequest(name, settings=settings, layers=tuple(layers), seed=seed)
    return Source(lambda: SimulatedTarget(request), side_by_side=True)


def _looked_at(name: str, show: ShowLines) -> Source:
    seen = look(name, Wishes(), show)
    content = [f"{each}; to be given up by --destroy-content {name}" for each in seen.content]
    obstacles = (*seen.obstacles, *content)
    return Source(lambda: seen.target, False, obstacles, seen.target.release)


def _opened(name: str, wishes: Wishes, show: ShowLines) -> Source:
    target = open_real(name, wishes, show)
    return Source(lambda: target, side_by_side=False, release=target.release)
