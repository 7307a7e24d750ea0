"""Victim policies in Python that Numba compiles: as fast as those in C.

    from ssdlab import compiled

    @compiled.policy
    def greedy(blocks):
        valid = compiled.valid(blocks)
        …

A policy takes the blocks of one pool (`RAW`, the fields of ``include/ssdlab_policy.h``) and returns
the number of one; `valid`, `age`, `idle` and `erases` read what lies behind its pointers. Numba has
to be installed. Left out: a state of its own; a policy in C or Rust has one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

try:
    from numba import carray, cfunc, from_dtype, njit, types
    from numba.extending import intrinsic
except ImportError as error:
    raise ImportError(
        f"a policy that is compiled needs Numba: {error}\ninstall it: pip install numba"
    ) from None

RAW = np.dtype(
    [
        ("version", np.uint32),
        ("count", np.uint32),
        ("capacity", np.uint32),
        ("turn", np.uint32),
        ("pool", np.uint32),
        ("pools", np.uint32),
        ("valid", np.uintp),
        ("sealed_at", np.uintp),
        ("sealed_at_stride", np.uint64),
        ("erases", np.uintp),
        ("erases_stride", np.uint64),
        ("sealings", np.uint64),
        ("random", np.uint64),
        ("invalidated_at", np.uintp),
        ("invalidated_at_stride", np.uint64),
        ("written", np.uint64),
        ("stream", np.uintp),
        ("stream_stride", np.uint64),
    ],
    align=True,
)
"""``ssdlab_blocks`` of the header, version 2."""

_SIGNATURE = types.int64(types.voidptr, types.CPointer(from_dtype(RAW)))


def policy(function: Callable[[Any], int]) -> Any:
    """Compile a policy; the result has an ``address``, and goes to `Drive.run` as ``gc``.

    Parameters
    ----------
    function
        Takes the blocks of a pool, a record `RAW`; returns the number of one, or below 0 an error.
    """
    choose = njit(function)

    def called(_state: Any, blocks: Any) -> Any:
        return choose(carray(blocks, 1)[0])

    compiled = cfunc(_SIGNATURE)(called)
    compiled.__name__ = function.__name__
    compiled.sees_invalidations = getattr(function, "sees_invalidations", False)
    return compiled


def _loader(kind: Any) -> Any:
    """Return a compiled function that reads a number at an address."""

    @intrinsic
    def load(_context: Any, _address: Any) -> Any:
        def generated(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
            pointer = builder.inttoptr(arguments[0], context.get_value_type(kind).as_pointer())
            return builder.load(pointer)

        return kind(types.uintp), generated

    return load


@intrinsic
def _counters(_context: Any, _address: Any) -> Any:
    """Make an address one of 32-bit numbers."""
    pointer = types.CPointer(types.uint32)

    def generated(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], context.get_value_type(pointer))

    return pointer(types.uintp), generated


_load_32, _load_64 = _loader(types.uint32), _loader(types.uint64)


@njit
def valid(blocks: Any) -> Any:
    """Return the valid units of each block; `policy.NOT_A_CANDIDATE` is set where it is none."""
    return carray(_counters(blocks.valid), (np.int64(blocks.count),))


@njit
def age(blocks: Any, block: int) -> Any:
    """Return how many blocks were sealed in the drive since this one was."""
    return blocks.sealings - _load_64(blocks.sealed_at + np.uint64(block) * blocks.sealed_at_stride)


@njit
def idle(blocks: Any, block: int) -> Any:
    """Return the units written since one of this block was last overwritten or trimmed.

    The policy needs an attribute ``sees_invalidations`` that is true before the run.
    """
    stride = np.uint64(block) * blocks.invalidated_at_stride
    return blocks.written - _load_64(blocks.invalidated_at + stride)


@njit
def erases(blocks: Any, block: int) -> Any:
    """Return the erases of a block so far; of a superblock, those of its first block."""
    return _load_32(blocks.erases + np.uint64(block) * blocks.erases_stride)
