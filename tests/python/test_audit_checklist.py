"""The checklist: six items, each answered by what the audit found, and by nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from builders import behind, generation, with_queue, worn
from layouts import LAYOUTS
from layouts_host import nameless_family
from machine import MadeMachine
from ssdlab.machine.audit import audit
from ssdlab.machine.audit.capture import capture
from ssdlab.machine.audit.checklist import Checklist, checklist
from ssdlab.machine.verdict import Verdict

Command = Callable[..., tuple[int, str, str]]
RIGHT, WRONG, UNSEEN = Verdict.RIGHT, Verdict.WRONG, Verdict.NOT_LOOKED_AT


def answered(machine: MadeMachine) -> Checklist:
    return checklist(audit(machine.system()))


def verdicts(machine: MadeMachine) -> list[Verdict]:
    return [item.severity.verdict for item in answered(machine).items]


def test_each_item_can_be_right_and_wrong_or_unseen() -> None:
    """No item is without a machine that passes it; none passes on every machine."""
    seen: dict[int, set[Verdict]] = {}
    for layout in LAYOUTS:
        for item in answered(layout.build()).items:
            seen.setdefault(item.number, set()).add(item.severity.verdict)
    assert set(seen) == {1, 2, 3, 4, 5, 6}
    assert all({RIGHT, UNSEEN} <= found for found in seen.values())
    # Whether attributes are documented is either known or not known here.
    assert {number for number, found in seen.items() if WRONG in found} == {1, 2, 3, 4, 6}


@pytest.mark.parametrize(
    "machine,expected",
    [
        (worn(50), [UNSEEN, RIGHT, UNSEEN, RIGHT, RIGHT, RIGHT]),
        (worn(104), [UNSEEN, RIGHT, UNSEEN, RIGHT, RIGHT, WRONG]),
        (nameless_family(), [UNSEEN, RIGHT, UNSEEN, RIGHT, UNSEEN, UNSEEN]),
        (generation("SAS-12G"), [RIGHT, RIGHT, RIGHT, UNSEEN, UNSEEN, UNSEEN]),
        (generation("SAS-6G"), [WRONG, RIGHT, RIGHT, UNSEEN, UNSEEN, UNSEEN]),
        (behind("RWBD"), [UNSEEN, RIGHT, WRONG, UNSEEN, UNSEEN, UNSEEN]),
        (with_queue(behind("NRWTD"), scheduler="[bfq]"), [UNSEEN, WRONG, RIGHT, *[UNSEEN] * 3]),
        (MadeMachine(), [UNSEEN] * 6),
    ],
)
def test_answers_by_machine(machine: MadeMachine, expected: list[Verdict]) -> None:
    """What is wrong in one place is wrong in its item and in no other."""
    assert verdicts(machine) == expected


def test_what_was_not_looked_at_is_not_passed() -> None:
    """An item with a good drive and one that does not tell says that it was not looked at."""
    machine = worn(50).drive("nvme1n1").mount("nvme1n1", "/srv", free=None)
    items = answered(machine).items
    assert items[3].severity.verdict is UNSEEN and "/dev/nvme1n1" in items[3].answer
    assert items[5].severity.verdict is UNSEEN
    for item in answered(MadeMachine()).items:
        assert item.answer.startswith("not looked at, because")


def test_the_page(command: Command, tmp_path: Path) -> None:
    """It is one page; exit codes are those of the audit; JSON has the same answers."""
    for machine, expected in ((worn(50), 4), (worn(104), 3), (behind("RWBD"), 1)):
        (tmp_path / "m.json").write_text(capture(machine.system()), encoding="utf-8")
        code, out, _ = command("audit", "--root", "m.json", "--checklist")
        assert code == expected and len(out.splitlines()) < 24
        code, text, _ = command("audit", "--root", "m.json", "--checklist", "--json")
        content = json.loads(text)
        assert code == expected and [each["number"] for each in content["items"]] == [*range(1, 7)]
        assert sum(content["summary"].values()) == 6
        for each in content["items"]:
            assert each["asks"] in out
    (tmp_path / "m.json").write_text(capture(MadeMachine().system()), encoding="utf-8")
    assert command("audit", "--root", "m.json", "--checklist")[0] == 4


def test_it_is_asked_alone(command: Command) -> None:
    """With what does something else it is refused."""
    for more in (("--capture", "x"), ("--prove-trim", "/"), ("--load", "1s")):
        code, _, error = command("audit", "--checklist", *more)
        assert code == 2 and "give one of them" in error
