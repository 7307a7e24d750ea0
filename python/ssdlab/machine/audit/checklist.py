"""The checklist of the Thomas-Krenn SSD e-book for SSDs in arrays (p. 22), answered by the audit.

Six items, each with the check that answers it. An item looks wrong if anything of it does, and
looks right only if all of it was looked at; what there is nothing of is not looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

from ssdlab.machine.audit.finding import Finding, Severity
from ssdlab.machine.audit.monitoring import EXIT_CODES
from ssdlab.machine.audit.walk import Audit
from ssdlab.machine.verdict import Verdict, count, not_looked_at, summary

SOURCE = "Thomas-Krenn SSD e-book, p. 22"
_NO_CONTROLLER = "no RAID controller was found that is known as one"
_NO_SSD = "no drive here is known to be an SSD that is in use"
_NO_ANSWER = "no drive here answers smartctl"
_ITEMS = (
    ("RAID generation", "the RAID controller is of a generation for SSDs", _NO_CONTROLLER),
    ("scheduler", "the scheduler only passes requests on", _NO_SSD),
    ("RAID controller", "the controller writes through and reads nothing ahead", _NO_CONTROLLER),
    ("spare area", "room is left for random writes", _NO_SSD),
    ("SMART", "the meaning of the drives' SMART attributes is documented", _NO_ANSWER),
    ("wear", "the drives have life left", _NO_ANSWER),
)


@dataclass(frozen=True)
class Item:
    """One item.

    Attributes
    ----------
    number
        Its place in the list.
    asks
        What it asks for, as a statement.
    check
        The check of the audit that answers it.
    findings
        What that check found.
    absent
        Why it is not looked at where the check found nothing.
    """

    number: int
    asks: str
    check: str
    findings: tuple[Finding, ...]
    absent: str

    @property
    def severity(self) -> Severity:
        """The worst of its findings; unseen without any."""
        return max((each.severity for each in self.findings), default=Severity.UNSEEN)

    @property
    def answer(self) -> str:
        """Say what was found that decides it, and where."""
        decisive = [each for each in self.findings if each.severity is self.severity]
        if not decisive:
            return not_looked_at(self.absent)
        # In green the places are what is of interest; the same words are said once.
        told: dict[str, list[str]] = {}
        for each in decisive:
            told.setdefault(each.what, []).append(each.where)
        return "; ".join(f"{what} ({', '.join(where)})" for what, where in told.items())

    def to_dict(self) -> dict[str, object]:
        """Give it as JSON."""
        return {
            "number": self.number,
            "asks": self.asks,
            "verdict": str(self.severity.verdict),
            "severity": str(self.severity),
            "check": self.check,
            "answer": self.answer,
        }


@dataclass(frozen=True)
class Checklist:
    """All items, in the order of the list."""

    items: tuple[Item, ...]

    @property
    def exit_code(self) -> int:
        """The exit code of the command: that of the worst item, as the audit has it."""
        return int(EXIT_CODES[max(item.severity for item in self.items)])

    @property
    def summary(self) -> str:
        """How many items look right, look wrong, and were not looked at."""
        return summary(item.severity.verdict for item in self.items)

    def to_dict(self) -> dict[str, object]:
        """Give it as JSON."""
        counted = count(item.severity.verdict for item in self.items)
        return {
            "source": SOURCE,
            "summary": {verdict.key: counted[verdict] for verdict in Verdict},
            "items": [item.to_dict() for item in self.items],
        }


def checklist(found: Audit) -> Checklist:
    """Answer every item from what an audit found."""
    items = []
    for number, (check, asks, absent) in enumerate(_ITEMS, 1):
        findings = tuple(each for each in found.findings if each.check == check)
        items.append(Item(number, asks, check, findings, absent))
    return Checklist(tuple(items))
