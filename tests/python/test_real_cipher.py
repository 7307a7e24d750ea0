"""The kernel's cipher over a target: what cryptsetup says is read, what has no device is refused.

The mapping itself is set up in the guest (`tests/guest/test_measure.py`).
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from ssdlab.bench.real.cipher import CipherRate, kernel_rate, mapping
from ssdlab.bench.real.content import RunCommand
from ssdlab.bench.real.safety import permit_file
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.tool import Ended, GaveUp

BENCHMARK = """# Tests are approximate using memory only (no storage IO).
# Algorithm |       Key |      Encryption |      Decryption
    aes-xts        512b      1892.4 MiB/s      1901.3 MiB/s
"""


def answering(printed: str, errors: str = "", code: int = 0) -> RunCommand:
    """Return a cryptsetup that says this."""

    def run(words: Sequence[str], _seconds: float | None) -> Ended:
        assert words[:2] == ["cryptsetup", "--batch-mode"]
        return Ended(tuple(words), code, printed, errors)

    return run


@pytest.fixture(autouse=True)
def _has_cryptsetup(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _name: "/sbin/cryptsetup")


def test_the_kernels_rate_is_read() -> None:
    """And becomes the rate of a simulated cipher, in MB/s."""
    rate = kernel_rate(answering(BENCHMARK))
    assert rate == CipherRate(1892.4, 1901.3)
    assert rate.layer().startswith("crypt:mb_per_s=1994,cores=")
    assert "decrypts 1901 MiB/s on one core" in str(rate)


@pytest.mark.parametrize("said", ["", "    aes-xts        512b      N/A      N/A\n"])
def test_no_rate_is_made_up(said: str) -> None:
    """A kernel without the cipher prints none."""
    assert kernel_rate(answering(said, "Cipher is not available.", 1)) is None


def test_a_file_is_no_device(tmp_path: Path) -> None:
    """A loop device is named as the way; nothing was run."""
    image = tmp_path / "disk.img"
    image.write_bytes(bytes(1 << 20))

    def never(_words: Sequence[str], _seconds: float | None) -> Ended:
        raise AssertionError("cryptsetup was run")

    with permit_file(str(image), [str(image)]) as permission:
        with pytest.raises(SsdlabError, match="losetup --find --show"), mapping(permission, never):
            pass
    assert image.read_bytes() == bytes(1 << 20)


def test_what_fails_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program that is not there, cannot be started, or never answers."""

    def hangs(_words: Sequence[str], _seconds: float | None) -> Ended:
        raise GaveUp("no answer within 120 s")

    with pytest.raises(SsdlabError, match="no answer within"):
        kernel_rate(hangs)
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(SsdlabError, match="apt install cryptsetup-bin"):
        kernel_rate(answering(BENCHMARK))
