"""Fixtures: the command line in an empty folder, golden texts, a stand-in for the engine."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# numpy reads it when it is loaded. Threads of its own double what small matrices cost, and tests
# side by side fill the cores already.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import ssdlab.cli
import synthetic
from stand_in import StandIn

GOLDEN = Path(__file__).parent / "golden"
SMART = Path(__file__).parent / "smart"
LONGEST = ("test_readme.py", "test_interrupt.py", "test_sweep_cluster.py", "test_sizing.py")
"""Files that take longest."""


def pytest_configure() -> None:
    # A shell has its background jobs ignore Ctrl-C, and so would every command that a test starts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--renew-golden", action="store_true", help="write golden texts anew")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # No core is to wait at the end for a long file that another began last.
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> StandIn:
    module = StandIn()
    monkeypatch.setitem(sys.modules, "ssdlab._engine", module)
    # The stand-in preconditions nothing that could be kept.
    monkeypatch.setattr("ssdlab.experiment.cache.conditioned", lambda request, _progress: request)
    return module


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Each test has a cache folder of its own, so that none finds another's drives."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("SSDLAB_CACHE", str(folder))
    return folder


@pytest.fixture(autouse=True)
def no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    """How far a command is hangs on the machine: what it tells of that is left out."""
    monkeypatch.setenv("SSDLAB_PROGRESS", "none")


@pytest.fixture
def command(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[int, str, str]]:
    """Run the command line in an empty folder; gives exit code, stdout and stderr."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: str) -> tuple[int, str, str]:
        code = ssdlab.cli.main(list(arguments))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Put what the verbs read into the folder that they work in."""
    (tmp_path / "old.json").write_text(synthetic.text(synthetic.job()))
    shutil.copy(next(iter(sorted(SMART.glob("*.json")))), tmp_path / "drive.json")
    return tmp_path


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """Hold a text against the one kept; `pytest --renew-golden` writes it anew."""

    def check(name: str, found: str) -> None:
        kept = GOLDEN / f"{name}.txt"
        if request.config.getoption("--renew-golden"):
            kept.write_text(found, encoding="utf-8")
        assert kept.exists(), f"{kept} is missing: pytest --renew-golden"
        assert found == kept.read_text(encoding="utf-8")

    return check
