"""docs/reference/coverage.md: every item has a status, and what it names is there.

Commands are parsed by the command line's own parser and not run; rows, checks, drives and chapters
are looked up where they are made. The status itself is a judgement, but a row that is red when it
is run cannot be said to work, and what is said of it must be what came out. The quick set takes two
minutes of processor time, so its verdicts are kept. They are held to a run of some questions here,
and of all by `make test-long PART=coverage`.
"""

from __future__ import annotations

import os
import re
import shlex
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import click
import pytest

from conftest import GOLDEN
from layouts import LAYOUTS
from ssdlab import engine
from ssdlab.cli import ssdlab
from ssdlab.cli.align_options import read_layout
from ssdlab.cli.arguments import read_job_source
from ssdlab.cli.drives import parse_settings
from ssdlab.engine.request import RunRequest
from ssdlab.ground import documents, text
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.audit import audit
from ssdlab.referee.reproduce import QUICK, Performance, find, judging
from ssdlab.referee.reproduce.catalogue import questions
from ssdlab.study.everyday.catalogue import resolve
from test_coverage_kernel import HEADING as KERNEL
from test_reproduce import answered

pytestmark = pytest.mark.end_to_end

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"
PAGE = (REFERENCE / "coverage.md").read_text(encoding="utf-8")
WORKS, PARTLY, ABSENT, NOT_OURS = STATUSES = ("works", "partly", "absent", "not ours")
DOCUMENTS = ("anandtech", "freebsd-forum", "media-addicted", "stapelberg", "thomas-krenn")
_CODE = re.compile(r"`([^`]+)`")
_LINK = re.compile(r"\[([^]]+)\]\(([^)]+)\)")
_COUNTS = re.compile(r"Of (\d+) items (\d+) work, (\d+) work partly, (\d+) are absent, (\d+) are")
_KEPT = GOLDEN / "quick_verdicts.txt"
FILE = "tests/python/test_coverage.py"
_RUN_HERE = ("compression", "start-over")
"""Questions that take a second or two; with SSDLAB_COVERAGE=all, all are run."""


@dataclass(frozen=True)
class Item:
    """A row of the page."""

    document: str
    place: str
    what: str
    status: str
    where: str

    @property
    def references(self) -> list[str]:
        """What it names: code that begins like one of ours, and links."""
        code = [each for each in _CODE.findall(self.where) if _KIND.match(each)]
        return [*code, *(target for _, target in _LINK.findall(self.where))]

    @property
    def reason(self) -> str:
        """What is left of the last column without what it names."""
        return _LINK.sub("", _CODE.sub("", self.where)).strip(" ,;")


_KIND = re.compile(r"(ssdlab|reproduce|audit:|profile)(?= )")


def _items(page: str) -> list[Item]:
    found = []
    document = ""
    for line in page.splitlines():
        if line.startswith("## "):
            document = line[3:]
        elif document and line.startswith("| ") and not line.startswith("| Place "):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            assert len(cells) == 4, line
            found.append(Item(document, *cells))
    return found


# What runs on a real kernel has a table of its own: test_coverage_kernel.py.
ITEMS = _items(PAGE.partition(KERNEL)[0])


def wrong_with(item: Item) -> str:
    """Say what an item lacks; nothing where it is whole."""
    if item.status not in STATUSES:
        return "status"
    if item.status in (WORKS, PARTLY) and not item.references:
        return "names nothing"
    return "no reason" if item.status != WORKS and len(item.reason) < 7 else ""


def resolved(reference: str) -> None:
    """Look up what a reference names.

    Raises
    ------
    SsdlabError, click.UsageError, LookupError
        There is no such thing.
    """
    kind, _, rest = reference.partition(" ")
    if kind == "ssdlab":
        _parsed(shlex.split(rest))
    elif kind == "reproduce":
        name, _, row = rest.partition(": ")
        if row not in _rows()[name]:
            raise LookupError(reference)
    elif kind == "audit:":
        if rest not in _checks():
            raise LookupError(reference)
    elif kind == "profile":
        if rest not in _profiles():
            raise LookupError(reference)
    else:
        page, _, heading = reference.partition("#")
        if not (REFERENCE / page).is_file() or (heading and heading not in _headings(page)):
            raise LookupError(reference)


def _parsed(words: list[str]) -> None:
    """Let click parse a command, down to its verb, without invoking it."""
    command: click.Command | None = ssdlab
    context = click.Context(ssdlab, info_name="ssdlab")
    while isinstance(command, click.Group):
        name, command, words = command.resolve_command(context, words)
        if isinstance(command, click.Group):
            context = click.Context(command, parent=context, info_name=name)
    assert command is not None
    _values_fit(command, command.make_context(command.name, words, parent=context).params)


def _values_fit(command: click.Command, given: dict[str, Any]) -> None:
    """Check what click leaves to the verb: drives, layers, settings, scenarios, jobs, questions."""
    settings, layers = parse_settings(given.get("settings", ())), given.get("layers", ())
    for drive in given.get("drives") or [given.get("drive")]:
        if drive is not None:
            engine.show(drive, settings, layers)
    if "file" in given and layers:
        read_layout(None, layers, given)
    if command.name == "reproduce":
        find(given["questions"])
    if command.name == "run":
        _work_fits(given)


def _work_fits(given: dict[str, Any]) -> None:
    if not given["scenarios"]:
        source = read_job_source(given["arguments"])
        engine.check_job(source.text, source.name, source.flags)
    names = resolve(given["scenarios"])
    if given["values"]:
        # The engine reads values in order and refuses the last before anything is run.
        values = *given["values"], "none-such=1"
        settings = tuple(text.parse_setting(value, "--scenario-set") for value in values)
        try:
            engine.scenario(RunRequest("theory"), names[0], settings)
        except SsdlabError as error:
            if "none-such=1" not in str(error):
                raise


@cache
def _rows() -> dict[str, dict[str, judging.JudgedRow]]:
    """Every row of every question, from results that are made up: labels are the same."""
    return {each.name: {row.condition: row for row in answered(each).rows} for each in questions()}


@cache
def _checks() -> set[str]:
    """Name the findings that audits of known layouts give."""
    return {each.check for layout in LAYOUTS for each in audit(layout.build().system()).findings}


@cache
def _profiles() -> set[str]:
    return {str(each["name"]) for each in engine.profiles()}


@cache
def _headings(page: str) -> set[str]:
    lines = re.findall(r"^#+ (.+)$", (REFERENCE / page).read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).replace(" ", "-") for line in lines}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.place}: {item.what}"[:60])
def test_an_item_names_what_is_there(item: Item) -> None:
    """Something for what works, at least in part; a reason for what does not in full."""
    assert wrong_with(item) == ""
    for reference in item.references:
        resolved(reference)


@pytest.mark.parametrize(
    ("status", "where", "wrong"),
    [
        ("done", "`audit: discard`", "status"),
        (WORKS, "by a program of its own", "names nothing"),
        (PARTLY, "it is red, ours is slower", "names nothing"),
        (PARTLY, "`audit: discard`", "no reason"),
        (ABSENT, "", "no reason"),
        (NOT_OURS, "`audit: discard`", "no reason"),
        (WORKS, "`audit: discard`", ""),
        (PARTLY, "`audit: discard`; only of Linux", ""),
        (NOT_OURS, "it is a price", ""),
    ],
)
def test_an_item_without_status_name_or_reason_is_refused(
    status: str, where: str, wrong: str
) -> None:
    """The rules for an item, each broken once."""
    assert wrong_with(Item("a document", "p. 1", "something", status, where)) == wrong


@pytest.mark.parametrize(
    "invented",
    [
        "ssdlab dream",
        "ssdlab audit --dream",
        "ssdlab align dream",
        "ssdlab align check --dream",
        "ssdlab run baseline --dream=1 --drive theory",
        "ssdlab run baseline --drive dream",
        "ssdlab run baseline --drive theory --layer dream",
        "ssdlab run --scenario dream --drive theory",
        "ssdlab run --scenario boot --drive theory --scenario-set dream=1",
        "ssdlab align check --layer dream",
        "ssdlab show theory --set dream=1",
        "ssdlab season theory --to dream",
        "ssdlab reproduce dream",
        "reproduce raid: RAID 7 dreams",
        "audit: dreams",
        "profile dream",
        "dream.md#trim",
        "../explanation/model.md#dream",
    ],
)
def test_what_is_invented_is_refused(invented: str) -> None:
    """A verb, option, value, row, check, drive, page or heading that there is not."""
    with pytest.raises((SsdlabError, click.UsageError, LookupError), match="dream"):
        resolved(invented)


def test_the_counts_are_those_of_the_tables() -> None:
    """All items, and those of each status."""
    told = _COUNTS.search(" ".join(PAGE.split()))
    assert told is not None
    counted = Counter(item.status for item in ITEMS)
    assert [int(each) for each in told.groups()] == [
        len(ITEMS),
        *(counted[status] for status in STATUSES),
    ]


def test_every_document_and_every_row_of_it_is_named() -> None:
    """The five documents, all questions, and each row of these documents."""
    known = documents.by_name()
    titles = {known[name].title for name in DOCUMENTS}
    assert {item.document for item in ITEMS} == titles
    named = {each for item in ITEMS for each in item.references if each.startswith("reproduce ")}
    assert {each.split(" ")[1].rstrip(":") for each in named} == set(_rows())
    rows = {
        f"reproduce {name}: {condition}"
        for name, found in _rows().items()
        for condition, row in found.items()
        if row.document in {title.split(",")[0] for title in titles} | titles
    }
    assert rows
    assert rows - named == set()


def test_no_item_stands_twice() -> None:
    """A place and what it has are told once."""
    told = Counter((item.document, item.place, item.what) for item in ITEMS)
    assert [each for each, times in told.items() if times > 1] == []


def _verdicts() -> dict[str, str]:
    """Return what each row of the quick set came to when it was run last."""
    lines = _KEPT.read_text(encoding="utf-8").splitlines()
    return dict(line.rsplit(" = ", 1) for line in lines)


def _red(item: Item) -> list[str]:
    """Name the rows of an item that miss, do not hold or lie outside their figure."""
    known = _verdicts()
    return [each for each in item.references if known.get(each) in judging.RED]


def test_every_row_has_a_verdict() -> None:
    """One that is new, or called otherwise, is run before it is told of."""
    named = [f"reproduce {name}: {row}" for name, rows in _rows().items() for row in rows]
    assert sorted(_verdicts()) == sorted(named), f"SSDLAB_COVERAGE=all pytest --renew-golden {FILE}"


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.place}: {item.what}"[:60])
def test_what_works_has_no_red_row(item: Item) -> None:
    """A row that misses, does not hold or lies outside its figure works in part at most."""
    assert item.status != WORKS or _red(item) == []


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.place}: {item.what}"[:60])
def test_what_is_said_of_rows_is_so(item: Item) -> None:
    """An item says that a row is red, or outside its figure, where one is, and nowhere else."""
    known = _verdicts()
    if not any(each in known for each in item.references):
        return
    said = {
        judging.OUTSIDE: "outside the figure" in item.reason,
        "red": re.search(r"\bred\b", item.reason) is not None,
    }
    verdicts = {known[each] for each in _red(item)}
    assert any(said.values()) == bool(verdicts), verdicts
    assert said[judging.OUTSIDE] <= (judging.OUTSIDE in verdicts)


@pytest.mark.parametrize(
    ("status", "reason", "wrong"),
    [
        (WORKS, "", True),
        (PARTLY, "ours is slower", True),
        (PARTLY, "red, ours is slower", False),
        (PARTLY, "it holds, but outside the figure", True),
    ],
)
def test_a_false_note_is_refused(status: str, reason: str, wrong: bool) -> None:
    """The rules for what is said of rows, each broken once on a row that misses."""
    row = next(name for name, verdict in _verdicts().items() if verdict == judging.MISSES)
    item = Item("a document", "p. 1", "something", status, f"`{row}`; {reason}")
    try:
        test_what_works_has_no_red_row(item)
        test_what_is_said_of_rows_is_so(item)
    except AssertionError:
        assert wrong
    else:
        assert not wrong


def test_the_verdicts_are_those_of_the_quick_set(request: pytest.FixtureRequest) -> None:
    """Questions that are run here come to the verdicts that are kept."""
    whole = os.environ.get("SSDLAB_COVERAGE") == "all"
    asked = questions() if whole else find(_RUN_HERE)
    performance = Performance(asked, QUICK)
    pieces = performance.pieces()
    for piece, task in zip(pieces, performance.tasks(pieces), strict=True):
        performance.keep(piece, task(lambda *_: True))
    found = {
        f"reproduce {question.name}: {row.condition}": row.verdict
        for question, results in performance.answered()
        for row in question.rows(results)
    }
    if request.config.getoption("--renew-golden"):
        kept = {} if whole else _verdicts()
        lines = [f"{name} = {verdict}\n" for name, verdict in sorted({**kept, **found}.items())]
        _KEPT.write_text("".join(lines), encoding="utf-8")
    known = _verdicts()
    assert {name: known.get(name) for name in found} == found
