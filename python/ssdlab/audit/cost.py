"""What a finding costs, in figures of the model: greedy collection, uniform random writes.

The closed form of docs/model.md at 128 pages a block, for a drive whose own spare is 7 %. Where
the engine is not installed, the figures are left out.
"""

from __future__ import annotations

_OWN_SPARE = 0.07


def _write_amplification(unwritten: float) -> float | None:
    try:
        from ssdlab import engine

        answer = engine.theory(
            _OWN_SPARE, pages_per_block=128, gc="greedy", unwritten_share=unwritten or None
        )
        return float(answer["write_amplification"])
    except Exception:
        # Without the engine the audit goes on; only this figure is missing.
        return None


def cost_of_spare(share: float) -> str:
    """Say what leaving a share unused gives."""
    full, less = _write_amplification(0.0), _write_amplification(share)
    if full is None or less is None:
        return "a full drive moves more data for every random write"
    return (
        f"with 7 % spare of its own a full drive writes {full:.1f} pages a random write, "
        f"with {share:.0%} left unused {less:.1f} (model: greedy, uniform)"
    )


def cost_of_full_drive() -> str:
    """Say what it costs that the drive does not learn of a quarter of free space."""
    full, less = _write_amplification(0.0), _write_amplification(0.25)
    if full is None or less is None:
        return "random writes then move more data"
    return (
        f"with a quarter of the file system free it would write {less:.1f} pages a random write, "
        f"and writes {full:.1f} (model: 7 % spare, greedy, uniform)"
    )
