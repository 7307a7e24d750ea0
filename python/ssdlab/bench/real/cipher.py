"""The kernel's cipher over a target: a dm-crypt mapping, and what the kernel says of its speed.

The mapping is a plain one (no header is written), aes-xts-plain64 with a key of 512 bits from
``/dev/urandom`` that nobody keeps: what was written through it is noise once it is closed. While it
is open it holds the device in place of the `Permission`, so that nobody can mount it; jobs to the
device itself still go below it, as the plain half of a comparison.

Left out: files and NBD exports, which are no devices, and other ciphers.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from ssdlab.bench.real.content import RunCommand
from ssdlab.bench.real.safety import Permission
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.tool import Ended, GaveUp, run_to_end

_CIPHER, _KEY_BITS = "aes-xts", 512
_SHORT_S = 120.0
_ROW = re.compile(r"\s*aes-xts\s+512b\s+([\d.]+) MiB/s\s+([\d.]+) MiB/s")


@dataclass(frozen=True)
class CipherRate:
    """What the kernel's own benchmark says, in memory and on one core.

    Attributes
    ----------
    encryption_mib_per_s, decryption_mib_per_s
        The rates.
    """

    encryption_mib_per_s: float
    decryption_mib_per_s: float

    def __str__(self) -> str:
        """Write it as a sentence."""
        return (
            f"the kernel encrypts {self.encryption_mib_per_s:.0f} MiB/s and decrypts "
            f"{self.decryption_mib_per_s:.0f} MiB/s on one core "
            f"({_CIPHER}, {_KEY_BITS} bits; cryptsetup benchmark)"
        )

    def layer(self) -> str:
        """Return the layer of a simulated stack that decrypts at this rate on this machine."""
        mb_per_s = self.decryption_mib_per_s * (1 << 20) / 1e6
        return f"crypt:mb_per_s={mb_per_s:.0f},cores={os.cpu_count() or 1}"


def kernel_rate(run: RunCommand = run_to_end) -> CipherRate | None:
    """Ask the kernel's benchmark; None where it does not answer as it should."""
    words = ["benchmark", "--cipher", _CIPHER, "--key-size", str(_KEY_BITS)]
    ended = _cryptsetup(words, run)
    found = next((row for line in ended.output.splitlines() if (row := _ROW.match(line))), None)
    return None if found is None else CipherRate(float(found[1]), float(found[2]))


@contextmanager
def mapping(permission: Permission, run: RunCommand = run_to_end) -> Iterator[str]:
    """Open the cipher over a target, and close it again.

    Parameters
    ----------
    permission
        To write to the target; the mapping takes the kernel's exclusive claim over from it.

    Yields
    ------
    str
        The mapping's device.

    Raises
    ------
    SsdlabError
        cryptsetup is not there or fails.
    """
    if permission.is_export or os.path.isfile(permission.place):
        raise SsdlabError(
            f"{permission.place}: the kernel's cipher needs a block device; nothing was written\n"
            "make one: losetup --find --show FILE, nbd-client, or ssdlab attach FOLDER"
        )
    name = f"ssdlab-measure-{os.getpid()}"
    key = ["--cipher", f"{_CIPHER}-plain64", "--key-size", str(_KEY_BITS)]
    key += ["--key-file", "/dev/urandom"]
    permission.hand_over()
    opened = _cryptsetup(["open", "--type", "plain", *key, permission.place, name], run)
    if opened.code:
        raise SsdlabError(
            f"{permission.place}: the kernel's cipher could not be set up: {opened.complaint}\n"
            "it needs root, and the kernel's module dm-crypt: modprobe dm-crypt"
        )
    try:
        yield f"/dev/mapper/{name}"
    finally:
        closed = _cryptsetup(["close", name], run)
        if closed.code:
            raise SsdlabError(
                f"{permission.place}: the cipher is still open: {closed.complaint}\n"
                f"close it: cryptsetup close {name}"
            )


def _cryptsetup(words: list[str], run: RunCommand) -> Ended:
    if shutil.which("cryptsetup") is None:
        raise SsdlabError(
            "cryptsetup was not found; it sets up the kernel's cipher\n"
            "install it: apt install cryptsetup-bin"
        )
    try:
        return run(["cryptsetup", "--batch-mode", *words], _SHORT_S)
    except OSError as error:
        raise SsdlabError(f"cryptsetup: {error.strerror}") from None
    except GaveUp as reason:
        raise SsdlabError(f"cryptsetup: {reason}") from None
