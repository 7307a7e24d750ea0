"""A fixture for pytest: drives whose cuts come from one seed, which a failing test's report tells.

    def test_my_store(ssd):
        drive = ssd("intel-x25-m-g2-80gb", capacity_bytes="1GB")
        …
        drive.power_cut()

Each test draws a seed of its own; ``--ssdlab-seed N`` gives all of them that one. Nothing of the
package is loaded before a test makes a drive.
"""

from __future__ import annotations

import random
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from ssdlab.experiment.disks import Disk

_SEED: pytest.StashKey[int] = pytest.StashKey()


class Drives:
    """Makes drives for one test.

    Attributes
    ----------
    seed
        What the report tells.
    random
        Draws from it, for whatever else chance decides in the test.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.random = random.Random(seed)
        self._made = 0

    def __call__(
        self, name: str, settings: Mapping[str, Any] | None = None, **options: Any
    ) -> Disk:
        """Make a drive; `seed` among the options is that of its preconditioning, always the same.

        Parameters
        ----------
        name, settings, **options
            As for `ssdlab.disk`.
        """
        from ssdlab.experiment.disks import disk

        drive = disk(name, settings, **options)
        # What preconditioning leaves can be kept and used again; the cuts are this test's own.
        drive.seed = self.seed + self._made
        self._made += 1
        return drive


def pytest_addoption(parser: pytest.Parser) -> None:
    """Take the seed that a report told."""
    parser.getgroup("ssdlab").addoption(
        "--ssdlab-seed",
        type=int,
        metavar="N",
        help="seed of the drives of the fixture ssd, as the report of a failed test tells it",
    )


@pytest.fixture
def ssd(request: pytest.FixtureRequest) -> Drives:
    """Make drives that hold bytes and lose power: ``ssd("intel-x25-m-g2-80gb", …)``."""
    given = request.config.getoption("--ssdlab-seed")
    seed = random.SystemRandom().getrandbits(32) if given is None else int(given)
    request.node.stash[_SEED] = seed
    return Drives(seed)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Tell the seed where a test fails."""
    report = yield
    seed = item.stash.get(_SEED, None)
    if report.failed and seed is not None:
        told = f"the drives' seed is {seed}; to do the same again: --ssdlab-seed {seed}"
        report.sections.append(("ssdlab", told))
    return report
