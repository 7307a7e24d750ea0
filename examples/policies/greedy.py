"""The built-in greedy in Python, compiled by Numba, and beside it: the figures are the same.

python examples/policies/greedy.py
"""

from __future__ import annotations

from typing import Any

import ssdlab
from ssdlab.engine import compiled


@compiled.policy
def greedy(blocks: Any) -> int:
    """Of the candidates with the fewest valid units, take the first from `turn` on, else the first.

    What may not be chosen has the highest bit set: the smallest value is that of a candidate.
    """
    valid = compiled.valid(blocks)
    fewest = valid.min()
    for block in range(blocks.turn, blocks.count):
        if valid[block] == fewest:
            return block
    for block in range(blocks.turn):
        if valid[block] == fewest:
            return block
    return -1


def main() -> None:
    """Run both on a small drive in steady state."""
    drive = ssdlab.drive("theory", capacity_bytes="1GiB")
    uniform = {"rw": "randwrite", "bs": "4k", "iodepth": 16, "norandommap": True}
    for name, policy in (("built in", "greedy"), ("ours", greedy)):
        result = drive.run(state="steady", exact=True, gc=policy, **uniform)
        print(f"{name:9} write amplification {result.job().write_amplification}")


if __name__ == "__main__":
    main()
