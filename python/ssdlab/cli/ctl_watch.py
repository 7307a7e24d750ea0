"""``ssdlab ctl FOLDER… watch``: what served drives do, a line a second."""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ssdlab.cli.console import is_terminal, print_text
from ssdlab.cli.streams import escaped
from ssdlab.ground import signals, text
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.stdout import reader_has_left
from ssdlab.live.client import Client, at_once
from ssdlab.live.live import sample_of

EVERY_S = 1.0
_MOST_ROWS = 100
_MOST_WORDS = 5
_COLUMNS = (
    ("clock", 8),
    ("power", 5),
    ("reads/s", 8),
    ("writes/s", 8),
    ("MB/s", 7),
    ("p99 read", 9),
    ("p99 write", 9),
    ("WA", 6),
    ("free", 7),
)
"""What stands in a line, and how wide."""

Second = list[tuple[str, dict[str, Any]]]
ShowSecond = Callable[[Second], None]


def watch(clients: Sequence[Client], seconds: int | None, as_json: bool) -> int:
    """Show what drives do until Ctrl-C, or for so many seconds; return the exit code.

    Raises
    ------
    SsdlabError
        One of them is not served, or not any more.
    """
    try:
        with signals.raising(), _shown(clients, as_json) as show:
            for number, second in enumerate(_seconds(clients), 1):
                show(second)
                if number == seconds or reader_has_left():
                    break
    except KeyboardInterrupt:
        # It is how one ends it.
        return signals.exit_code()
    return 0


def _seconds(clients: Sequence[Client]) -> Iterator[Second]:
    """Give what happened in each second, of every drive."""
    before, read_at = _told(clients), time.monotonic()
    due, seen = read_at, [_last_event(told) for told in before]
    while True:
        due = max(due + EVERY_S, time.monotonic())
        time.sleep(max(0.0, due - time.monotonic()))
        now, now_at = _told(clients), time.monotonic()
        second = []
        for place, client in enumerate(clients):
            sample = sample_of(before[place], now[place], max(now_at - read_at, 1e-9))
            events = now[place].get("events") or ()
            sample["events"] = [each for each in events if each["number"] > seen[place]]
            second.append((client.folder, sample))
        yield second
        before, read_at, seen = now, now_at, [_last_event(told) for told in now]


def _told(clients: Sequence[Client]) -> list[dict[str, Any]]:
    told = []
    for each in at_once(clients, lambda client: client.get("/stats")):
        if isinstance(each, SsdlabError):
            raise each
        told.append(each)
    return told


def _last_event(told: Mapping[str, Any]) -> int:
    return max((each["number"] for each in told.get("events") or ()), default=-1)


def _shown(clients: Sequence[Client], as_json: bool) -> AbstractContextManager[ShowSecond]:
    if as_json:
        return _as_json()
    wide = max(len(client.folder) for client in clients) if len(clients) > 1 else 0
    return _as_table(wide) if is_terminal(sys.stdout) else _as_lines(wide)


@contextmanager
def _as_json() -> Iterator[ShowSecond]:
    def show(second: Second) -> None:
        for folder, sample in second:
            line = json.dumps({"folder": folder, **sample}, ensure_ascii=False)
            _print_now(escaped(line))

    yield show


@contextmanager
def _as_lines(wide: int) -> Iterator[ShowSecond]:
    def show(second: Second) -> None:
        for folder, sample in second:
            _print_now(_line(folder, cells_of(sample), wide))
            for event in sample["events"]:
                _print_now(f"{folder}: {_event_in_words(event)}")

    _print_now(_line("", [name for name, _ in _COLUMNS], wide))
    yield show


@contextmanager
def _as_table(wide: int) -> Iterator[ShowSecond]:
    """Show the last seconds, as many as the terminal has room for, and the last words below."""
    from rich.console import Console, Group
    from rich.live import Live
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False)
    lines: deque[str] = deque(maxlen=_MOST_ROWS)
    words: deque[str] = deque(maxlen=_MOST_WORDS)
    heading = Text(_line("", [name for name, _ in _COLUMNS], wide), style="bold", no_wrap=True)

    with Live(console=console, auto_refresh=False) as live:

        def show(second: Second) -> None:
            for folder, sample in second:
                lines.append(_line(folder, cells_of(sample), wide))
                words.extend(f"{folder}: {_event_in_words(each)}" for each in sample["events"])
            room = max(1, console.height - 3 - (len(words) + 1 if words else 0))
            rows = [Text(each, no_wrap=True) for each in list(lines)[-room:]]
            told = [Text(""), *(Text(each, style="yellow", no_wrap=True) for each in words)]
            live.update(Group(heading, *rows, *(told if words else ())), refresh=True)

        yield show


def cells_of(sample: Mapping[str, Any]) -> list[str]:
    """Return what a line says of a second; – where the drive does not tell.

    Parameters
    ----------
    sample
        What `sample_of` returned.
    """
    rates, moved, latency = sample["rates"], sample["bytes"], sample["latency"]
    return [
        text.duration(sample.get("now_ns")),
        str(sample.get("power", text.NOTHING)),
        text.count(rates.get("reads")),
        text.count(rates.get("writes")),
        text.significant(sum(moved.values()) / 1e6) if moved else text.NOTHING,
        text.duration((latency.get("read") or {}).get("p99_ns")),
        text.duration((latency.get("write") or {}).get("p99_ns")),
        text.ratio(sample["write_amplification"]),
        text.percent(sample.get("free")),
    ]


def _line(folder: str, cells: Sequence[str], wide: int) -> str:
    columns = [cell.rjust(width) for cell, (_, width) in zip(cells, _COLUMNS, strict=True)]
    return " ".join([folder.ljust(wide), *columns] if wide else columns)


def _event_in_words(event: Mapping[str, Any]) -> str:
    return f"{text.duration(event.get('at_ns'))}: {event.get('text', '')}"


def _print_now(line: str) -> None:
    print_text(line)
    sys.stdout.flush()
