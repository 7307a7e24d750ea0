"""How wide the columns of a table are on a terminal, so that nothing of it is cut.

A table that is broader than the terminal folds the one column that it names, where that column
keeps enough room; without such a column all fold, between words. What still does not fit has no
widths: it is a list then, a row after the other.
"""

from __future__ import annotations

from collections.abc import Sequence

_BETWEEN = 3
"""Letters from one column to the next."""
_EDGES = 2
_FOLDED = 16
"""Letters that a folded column needs, or it is a tower of single words."""


def widths(columns: Sequence[Sequence[str]], terminal: int, fold: int | None) -> list[int] | None:
    """Return the width of each column, or None where the terminal is too narrow for a table.

    Parameters
    ----------
    columns
        The cells of each column, its heading among them.
    terminal
        Letters in a line.
    fold
        The column that may be folded, also within a word; None for all of them.

    Examples
    --------
    >>> widths([["a drive", "one"], ["what it is", "b" * 90]], 80, 1)
    [7, 68]
    >>> widths([["a drive", "one"], ["what it is", "b" * 90]], 80, None) is None
    True
    """
    from rich.cells import cell_len

    whole = [max(map(cell_len, cells)) for cells in columns]
    room = terminal - _EDGES - _BETWEEN * (len(whole) - 1)
    if sum(whole) <= room:
        return whole
    if fold is not None:
        left = room - sum(whole) + whole[fold]
        return [*whole[:fold], left, *whole[fold + 1 :]] if left >= _FOLDED else None
    words = [max(cell_len(word) for cell in cells for word in cell.split(" ")) for cells in columns]
    if sum(words) > room:
        return None
    while sum(whole) > room:
        spare = [now - least and now for now, least in zip(whole, words, strict=True)]
        whole[spare.index(max(spare))] -= 1
    return whole
