"""Policies of the user's own: shared libraries, compiled functions, Python functions.

A policy reaches the engine as the setting ``ftl.gc``: ``PATH.so`` or ``PATH.so:ARGUMENT`` for a
library, ``function:NUMBER:NAME`` for a function of this process, which is registered for as long as
runs may need it. The interface is that of ``include/ssdlab_policy.h``; docs/howto/policy.md says
what a policy may see. Left out: what happens inside a library that crashes
(`ssdlab.engine.policy_child`).
"""

from __future__ import annotations

import ctypes
import operator
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ssdlab import engine
from ssdlab.engine.policy_setting import KEY
from ssdlab.engine.request import Settings
from ssdlab.ground.errors import SsdlabError

VERSION = 2
"""Version of the interface."""

NOT_A_CANDIDATE = 1 << 31
"""Set in a block's valid units where it must not be chosen."""

SEES_INVALIDATIONS = 1
"""A bit of what a policy wants to see: times of invalidation are noted."""

_FAILED = -1


class RawBlocks(ctypes.Structure):
    """The blocks of one pool as they cross the interface: ``ssdlab_blocks`` of the header."""

    _fields_ = [
        ("version", ctypes.c_uint32),
        ("count", ctypes.c_uint32),
        ("capacity", ctypes.c_uint32),
        ("turn", ctypes.c_uint32),
        ("pool", ctypes.c_uint32),
        ("pools", ctypes.c_uint32),
        ("valid", ctypes.c_void_p),
        ("sealed_at", ctypes.c_void_p),
        ("sealed_at_stride", ctypes.c_uint64),
        ("erases", ctypes.c_void_p),
        ("erases_stride", ctypes.c_uint64),
        ("sealings", ctypes.c_uint64),
        ("random", ctypes.c_uint64),
        ("invalidated_at", ctypes.c_void_p),
        ("invalidated_at_stride", ctypes.c_uint64),
        ("written", ctypes.c_uint64),
        ("stream", ctypes.c_void_p),
        ("stream_stride", ctypes.c_uint64),
    ]


CHOOSE = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.POINTER(RawBlocks))
"""The type of ``ssdlab_policy_choose``, for policies in ctypes."""


class Blocks:
    """The blocks of one pool, as a Python policy sees them; the arrays hold until it returns.

    Attributes
    ----------
    capacity
        Units that a block holds at most.
    turn
        One behind the last victim: of equals, greedy takes the first from here on.
    pool, pools
        Number of the pool, and how many the drive has.
    sealings
        Blocks sealed in the drive so far.
    random
        64 random bits, new with each call, from the seed of the run.
    written
        Units that the host has written to flash so far; 0 unless the policy sees invalidations.
    """

    def __init__(self, raw: RawBlocks) -> None:
        self._raw = raw
        self.capacity = int(raw.capacity)
        self.turn = int(raw.turn)
        self.pool = int(raw.pool)
        self.pools = int(raw.pools)
        self.sealings = int(raw.sealings)
        self.random = int(raw.random)
        self.written = int(raw.written)

    @property
    def valid(self) -> NDArray[np.uint32]:
        """Valid units of each block; `NOT_A_CANDIDATE` is set where it must not be chosen."""
        return self._array(self._raw.valid, np.dtype(np.uint32), 4)

    @property
    def age(self) -> NDArray[np.uint64]:
        """Blocks sealed in the drive since each block was."""
        raw = self._raw
        sealed_at = self._array(raw.sealed_at, np.dtype(np.uint64), raw.sealed_at_stride)
        return np.uint64(self.sealings) - sealed_at

    @property
    def erases(self) -> NDArray[np.uint32]:
        """Erases of each block so far; of a superblock, those of its first block."""
        return self._array(self._raw.erases, np.dtype(np.uint32), self._raw.erases_stride)

    @property
    def idle(self) -> NDArray[np.uint64]:
        """Units written since one of each block was last overwritten or trimmed.

        Raises
        ------
        SsdlabError
            The function has no attribute ``sees_invalidations`` that is true.
        """
        raw = self._raw
        if not raw.invalidated_at:
            raise SsdlabError(
                "times of invalidation are not noted\n"
                "ask for them before the run: set the policy's attribute sees_invalidations to True"
            )
        kind = np.dtype(np.uint64)
        invalidated_at = self._array(raw.invalidated_at, kind, raw.invalidated_at_stride)
        return np.uint64(self.written) - invalidated_at

    def _array(self, address: int, kind: np.dtype[Any], stride: int) -> NDArray[Any]:
        count = int(self._raw.count)
        size = (count - 1) * stride + kind.itemsize
        memory: Any = (ctypes.c_char * size).from_address(address)
        values: NDArray[Any] = np.ndarray((count,), kind, memory, strides=(stride,))
        values.flags.writeable = False
        return values


Function = Callable[[Blocks], int]
"""A Python policy: a block to be collected next."""

Policy = str | Function | Any
"""A name or a library's path, a compiled function (with ``address``), ctypes' or Python's."""


@contextmanager
def setting(policy: Policy | None) -> Iterator[Settings]:
    """Give the setting for a policy; a function is known to the engine while the block runs.

    Parameters
    ----------
    policy
        None for that of the drive.

    Raises
    ------
    SsdlabError
        It is nothing of that kind, or an exception of a Python policy has ended the run.
    """
    if policy is None or isinstance(policy, str):
        yield () if policy is None else ((KEY, policy),)
        return
    name = str(getattr(policy, "__name__", None) or type(policy).__name__)
    failures: list[BaseException] = []
    # It lives until the engine has forgotten it.
    compiled = _compiled(policy, failures)
    address = _address(compiled)
    sees = SEES_INVALIDATIONS if getattr(policy, "sees_invalidations", False) else 0
    number = engine.ask(lambda loaded, _: int(loaded.register_policy(address, sees)))
    try:
        yield ((KEY, f"function:{number}:{name}"),)
    except SsdlabError:
        if not failures:
            raise
        told = f"policy {name}: {type(failures[0]).__name__}: {failures[0]}"
        raise SsdlabError(f"{told}\nit is an error of the policy itself") from failures[0]
    finally:
        engine.ask(lambda loaded, _: loaded.unregister_policy(number))
        del compiled


def _compiled(policy: Policy, failures: list[BaseException]) -> Any:
    """Return what has an address: the policy itself, or a Python one behind ctypes."""
    is_pointer = hasattr(policy, "argtypes") and hasattr(policy, "restype")
    if hasattr(policy, "address") or is_pointer:
        return policy
    if callable(policy):
        return _behind_ctypes(policy, failures)
    raise SsdlabError(
        f"gc {policy!r}: is no policy\n"
        'name one ("greedy", "./mine.so"), or give a function (docs/howto/policy.md)'
    )


def _address(compiled: Any) -> int:
    if hasattr(compiled, "address"):
        return int(compiled.address)
    return int(ctypes.cast(compiled, ctypes.c_void_p).value or 0)


def _whole(answer: Any) -> int:
    number = operator.index(answer)
    if not -(2**63) <= number < 2**63:
        raise SsdlabError(f"answer {number}: is no number of a block")
    return number


def _behind_ctypes(policy: Function, failures: list[BaseException]) -> Any:
    """Wrap a Python function; ctypes would print its exception and go on."""

    def choose(_state: Any, raw: Any) -> int:
        try:
            # ctypes would make 0 of what is no whole number of 64 bits.
            return ctypes.c_int64(_whole(policy(Blocks(raw.contents)))).value
        except BaseException as failure:
            failures.append(failure)
            return _FAILED

    return CHOOSE(choose)
