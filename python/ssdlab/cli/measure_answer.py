"""What ``ssdlab measure`` answers, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ssdlab.bench.real.cipher import CipherRate
from ssdlab.cli.console import print_table, print_text
from ssdlab.referee.asked.questions import AskedQuestion
from ssdlab.referee.asked.turns import TurnsAnswer


def show(
    asked: AskedQuestion,
    target: str,
    answers: Sequence[TurnsAnswer],
    drive: str | None,
    beside: Sequence[TurnsAnswer] | None,
    rate: CipherRate | None,
) -> None:
    """Print a table for each contrast: the target, the simulated drive, the documents."""
    print_text(asked.asks)
    for index, contrast in enumerate(asked.contrasts):
        print_text(f"\n{contrast.ratio}:\n")
        rows = [_cells(target, answers[index])]
        if beside is not None:
            rows.append(_cells(f"{drive}, simulated", beside[index]))
        rows += [
            (each.document, f"{each.value:.2f}", "", f"{each.text} ({each.place})")
            for each in contrast.stated()
        ]
        print_table(("", "ratio", "95 % interval", ""), rows, right=(1,))
    if rate is not None:
        print_text(f"\n{rate}")


def as_data(
    asked: AskedQuestion,
    target: str,
    answers: Sequence[TurnsAnswer],
    beside: Sequence[TurnsAnswer] | None,
    rate: CipherRate | None,
) -> dict[str, Any]:
    """Return the same for programs."""
    return {
        "question": asked.name,
        "target": target,
        "contrasts": [
            {
                "ratio_of": contrast.ratio,
                "target": vars(answers[index]),
                "simulated": None if beside is None else vars(beside[index]),
                "documents": [
                    {"document": each.document, "place": each.place, "ratio": each.value}
                    for each in contrast.stated()
                ],
            }
            for index, contrast in enumerate(asked.contrasts)
        ],
        "kernel_cipher": None if rate is None else vars(rate),
    }


def _cells(name: str, answer: TurnsAnswer) -> tuple[str, str, str, str]:
    between = "" if answer.interval is None else "{:.2f} to {:.2f}".format(*answer.interval)
    return name, f"{answer.ratio:.2f}", between, f"{len(answer.pairs)} turns"
