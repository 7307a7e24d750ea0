"""What a finding costs, in figures of the model: greedy collection, uniform random writes.

The closed form of docs/explanation/model.md at 128 pages a block, for a drive whose own spare is 7
%. Where the engine is not installed, the figures are left out.
"""

from __future__ import annotations

_OWN_SPARE = 0.07
_MORE = 0.25


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


def cost_of_room(share: float) -> str:
    """Say what random writes cost with that room, as a share of the rest, and with a quarter more.

    Examples
    --------
    >>> cost_of_room(0.0).partition(", with")[0]
    'with 7 % spare of its own (assumed) and 0% on top a random write programs 7.4 pages'
    """
    more = share + _MORE
    # A share r of the rest is left unwritten: r / (1 + r) of the exported pages.
    now, then = (_write_amplification(each / (1 + each)) for each in (share, more))
    if now is None or then is None:
        return "the fuller a drive is, the more data it moves for every random write"
    return (
        f"with 7 % spare of its own (assumed) and {share:.0%} on top a random write programs "
        f"{now:.1f} pages, with {more:.0%} on top {then:.1f} (model: greedy, uniform)"
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
