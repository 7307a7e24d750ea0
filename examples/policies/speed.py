"""What a policy of one's own costs: CPU time of the same job with it and with the built-in greedy.

python examples/policies/speed.py POLICY.so [ROUNDS]

The two take turns, so that what else the machine does falls on both; the ratio is that of the
medians, and the spread says how far single pairs lie apart.
"""

from __future__ import annotations

import statistics
import sys
from typing import Any

import ssdlab


def cpu_s(gc: Any) -> float:
    """CPU time of a job on a used drive of 4 GiB, in seconds."""
    drive = ssdlab.drive("theory", capacity_bytes="4GiB")
    uniform = {"rw": "randwrite", "bs": "4k", "iodepth": 16, "norandommap": True, "size": "100%"}
    result = drive.run(state="used", cache=False, gc=gc, io_size="16g", **uniform)
    return float(result.job().lab["cpu_s"])


def compare(name: str, policy: Any, rounds: int) -> None:
    """Print the ratio of a policy's CPU time to that of the built-in greedy."""
    pairs = [(cpu_s("greedy"), cpu_s(policy)) for _ in range(rounds)]
    ratio = statistics.median(own for _, own in pairs) / statistics.median(own for own, _ in pairs)
    each = sorted(own / built_in for built_in, own in pairs)
    print(f"{name}: {ratio:.3f} of the built-in greedy; pairs {each[0]:.3f} to {each[-1]:.3f}")


def main() -> None:
    """Compare the library that is named, and the policies that Python has itself."""
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    compare(sys.argv[1], sys.argv[1], rounds)
    try:
        from greedy import greedy
    except ImportError as error:
        print(f"greedy.py is left out: {error}")
        return
    compare("greedy.py (Numba)", greedy, rounds)


if __name__ == "__main__":
    main()
