"""What a terminal gets and a pipe does not: colours, progress, tables fitted to the width.

rich is loaded where it draws: most commands write lines, and should not wait for it.
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import sys
import textwrap
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Literal, Protocol, TextIO

import click

from ssdlab.cli.progress_lines import ProgressLines, are_wanted
from ssdlab.cli.streams import escaped
from ssdlab.cli.widths import widths
from ssdlab.ground.errors import SsdlabError

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PIPE_COLUMNS = 2000


def is_terminal(stream: TextIO) -> bool:
    """Whether people look at the stream, on something that can draw."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def print_json(value: Any) -> None:
    """Write JSON for programs."""
    print_json_text(json.dumps(value, indent=2, ensure_ascii=False))


def print_json_text(document: str) -> None:
    """Write JSON that is text already; it stays the same JSON whatever stdout can show."""
    print_text(escaped(document))


def print_text(document: str) -> None:
    """Write a document as it is, ending in one newline."""
    sys.stdout.write(document.rstrip("\n") + "\n")


def print_line(sentence: str) -> None:
    """Write a line; on a terminal that is narrower it is broken between words."""
    print_text(fitted(sentence))


def print_paragraph(sentences: str) -> None:
    """Write a paragraph after an empty line, broken to the width of a terminal."""
    print_text("\n" + filled(sentences))


def print_filled(sentences: str, mark: str = "") -> None:
    """Write sentences, broken to the width of a terminal and indented behind their mark."""
    print_text(filled(sentences, mark))


def print_list(heading: str, entries: Sequence[str]) -> None:
    """Write a heading and entries below it; nothing where there are none."""
    if entries:
        print_text(list_text(heading, entries))


def list_text(heading: str, entries: Sequence[str]) -> str:
    """Return an empty line, a heading and entries below it."""
    return "\n".join(["", heading, *(filled(entry, "- ") for entry in entries)])


def filled(sentences: str, mark: str = "", again: str | None = None) -> str:
    """Return sentences, broken to the width of a terminal and indented behind their mark.

    Parameters
    ----------
    again
        What further lines begin with, in place of spaces.
    """
    columns = min(shutil.get_terminal_size((100, 24)).columns, 100)
    return textwrap.fill(
        sentences,
        columns,
        initial_indent=mark,
        subsequent_indent=" " * len(mark) if again is None else again,
        break_long_words=False,
        break_on_hyphens=False,
    )


def fitted(
    sentences: str, mark: str = "", again: str | None = None, *, stream: TextIO | None = None
) -> str:
    """Return a line behind its mark; as `filled` has it on a terminal that is narrower.

    Parameters
    ----------
    stream
        Where it goes; None for stdout.
    """
    columns = shutil.get_terminal_size((100, 24)).columns
    is_too_long = len(mark) + len(sentences) > columns
    if is_too_long and is_terminal(sys.stdout if stream is None else stream):
        return filled(sentences, mark, again)
    return mark + sentences


def note(message: str) -> None:
    """Tell people something that is not a result.

    On a terminal that is narrower its first line is broken between words; the others stay, since
    they may be a command to be copied.
    """
    sys.stdout.flush()
    first, newline, others = message.rstrip("\n").partition("\n")
    with suppress(OSError):
        sys.stderr.write(f"{fitted(first, stream=sys.stderr)}{newline}{others}\n")
        sys.stderr.flush()


def check_agreed(question: str, yes: bool) -> None:
    """Ask before something that cannot be taken back, unless ``--yes`` has answered.

    Raises
    ------
    SsdlabError
        Nobody is there to answer.
    Abort
        The answer is no.
    """
    if yes:
        return
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort:
        if sys.stdin.isatty():
            raise
        click.echo(err=True)  # The question's line has no end yet.
        raise SsdlabError(
            f"{question}\nnobody is there to answer; nothing was done\ngive --yes to agree"
        ) from None
    if not agreed:
        raise click.Abort


def print_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    fold: int | None = None,
    red: Sequence[int] = (),
) -> None:
    """Write a table as `table_text` has it, fitted to where stdout goes."""
    terminal = is_terminal(sys.stdout)
    print_text(table_text(headings, rows, right=right, fold=fold, red=red, terminal=terminal))


def table_text(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[int] = (),
    fold: int | None = None,
    red: Sequence[int] = (),
    terminal: bool = False,
) -> str:
    """Return a table without its last newline: fitted to a terminal, or one line per row.

    Parameters
    ----------
    headings
        One per column.
    rows
        Cells as text.
    right
        Columns of numbers, set to the right.
    fold
        The column that is folded where the terminal is too narrow; without it all are.
    red
        Rows that are red on a terminal.
    terminal
        Whether a terminal gets it in the end. One that is too narrow gets a list.
    """
    if not terminal:
        return _drawn(headings, rows, right, None)
    columns = list(zip(headings, *rows, strict=True))
    found = widths(columns, shutil.get_terminal_size((80, 24)).columns, fold)
    if found is None:
        return _listed(headings, rows, red)
    return _drawn(headings, rows, right, found, red)


def _listed(headings: Sequence[str], rows: Sequence[Sequence[str]], red: Sequence[int]) -> str:
    """Give each row a list of its own under its first cell; empty cells are left out."""
    lists = []
    for place, row in enumerate(rows):
        named = zip(headings, row, strict=True)
        first, *others = (f"{heading}: {cell}" if heading else cell for heading, cell in named)
        written = list_text(
            first, [each for each, cell in zip(others, row[1:], strict=True) if cell]
        )
        lists.append(click.style(written, fg="red") if place in red else written)
    return "\n".join(lists)


def _drawn(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    right: Sequence[int],
    fitted: Sequence[int] | None,
    red: Sequence[int] = (),
) -> str:
    """Draw a table with columns of these widths; without them for a pipe."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    box = None if fitted is None else SIMPLE_HEAD
    table = Table(box=box, pad_edge=False, padding=(0, 2, 0, 0))
    for column, heading in enumerate(headings):
        width = None if fitted is None else fitted[column]
        justify: Literal["left", "right"] = "right" if column in right else "left"
        table.add_column(heading, justify=justify, overflow="fold", width=width)
    for place, row in enumerate(rows):
        table.add_row(*(Text(cell) for cell in row), style="red" if place in red else None)
    console = Console(
        file=sys.stdout, width=_PIPE_COLUMNS, force_terminal=fitted is not None, highlight=False
    )
    with console.capture() as capture:
        console.print(table)
    lines = capture.get().split("\n")
    return "\n".join(line.rstrip() for line in lines).strip("\n")


class Display(Protocol):
    """Shows how far tasks are."""

    def report(self, index: int, phase: str, share: float) -> None:
        """Show how far a task is; callable from any thread."""

    def finish(self, index: int) -> None:
        """Hear that a task has ended."""


class ProgressDisplay:
    """One line per task on the terminal; silent without one.

    Parameters
    ----------
    labels
        What each task is called.
    """

    def __init__(self, labels: Sequence[str], progress: Progress | None) -> None:
        self._labels = labels
        self._progress = progress
        self._tasks: dict[int, TaskID] = {}
        self._lock = threading.Lock()

    def report(self, index: int, phase: str, share: float) -> None:
        """Show how far a task is; callable from any thread."""
        if self._progress is None:
            return
        with self._lock:
            if index not in self._tasks:
                self._tasks[index] = self._progress.add_task(self._labels[index], total=1.0)
            description = f"{self._labels[index]}: {phase}"
            self._progress.update(self._tasks[index], description=description, completed=share)

    def finish(self, index: int) -> None:
        """Take a finished task's line away."""
        if self._progress is not None and index in self._tasks:
            self._progress.remove_task(self._tasks.pop(index))


@contextmanager
def progress_display(labels: Sequence[str], wanted: bool = True) -> Iterator[Display]:
    """Show progress on stderr while the block runs, if wanted; in lines without a terminal."""
    if not wanted:
        yield ProgressDisplay(labels, None)
        return
    if not is_terminal(sys.stderr):
        yield ProgressLines(labels, note) if are_wanted() else ProgressDisplay(labels, None)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeElapsedColumn(),
    )
    console = Console(stderr=True)
    # A signal may end the process while the cursor is hidden.
    atexit.register(console.show_cursor)
    with Progress(*columns, console=console, transient=True) as progress:
        yield ProgressDisplay(labels, progress)
    atexit.unregister(console.show_cursor)
