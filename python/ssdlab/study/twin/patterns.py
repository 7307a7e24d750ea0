"""The patterns of the measurements as fio's ``random_distribution``.

uniform; zipf-θ over all 4 KiB pages; two-zone S/W (S % of the space takes W % of the writes);
never-rewritten X (a share X of the pages is filled once). Hot and cold pages lie mixed, since the
measurements spread the ranks and zones by one random permutation of all pages.
"""

from __future__ import annotations

UNIFORM = "uniform"
_NEAR_ONE = 0.9999
"""fio's law, and so the engine's, excludes zipf of exactly 1."""
_MOST_SKEW = 2.0


def distribution(pattern: str, pages: int) -> str:
    """Return what ``random_distribution`` is for a pattern.

    Parameters
    ----------
    pattern
        Its name.
    pages
        4 KiB pages of the drive that was measured: a slice's page stands for several ranks.

    Raises
    ------
    ValueError
        There is no such pattern.

    Examples
    --------
    >>> distribution("two-zone 5/95", 1000), distribution("never-rewritten 0.4", 1000)
    ('zoned_scatter:95/5:5/95', 'zoned_scatter:100/60')
    """
    if pattern == UNIFORM:
        return "random"
    if pattern.startswith("zipf-"):
        theta = float(pattern.removeprefix("zipf-"))
        if not 0 < theta < _MOST_SKEW:
            raise ValueError(f"zipf {theta:g} must be above 0 and below {_MOST_SKEW:g}")
        return f"zipf:{_NEAR_ONE if theta == 1 else theta:g}:ranks={pages}"
    kind, _, figures = pattern.partition(" ")
    if kind == "two-zone":
        space, writes = (_percent(int(each)) for each in figures.split("/"))
        return f"zoned_scatter:{writes}/{space}:{100 - writes}/{100 - space}"
    if kind == "never-rewritten":
        return f"zoned_scatter:100/{_percent(100 * (1 - float(figures)))}"
    raise ValueError(f"no pattern {pattern!r}")


def _percent(share: float) -> int:
    """Return a share in percent, which the distribution takes as a whole number."""
    found = round(share)
    if abs(found - share) > 1e-9 or not 0 < found < 100:
        raise ValueError(f"{share:g} % must be a whole number above 0 and below 100")
    return found
