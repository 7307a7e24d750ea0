"""A result's folder as a report needs it: its plan, and what follows from the rounds so far.

Nothing is taken from ``result.json``: it is compared with what follows from the rounds, and the
report says whether the two agree.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ssdlab.bench.ending import has_ended
from ssdlab.bench.plan import Cell, Conditioning, Part, Precision, StopRule, Tracking, Workload
from ssdlab.bench.report import known
from ssdlab.bench.store import Store
from ssdlab.bench.summary import part_summary
from ssdlab.bench.table import state
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.recognise import what_the_file_is
from ssdlab.ground.unread import Unread

_OF_ANOTHER_SHAPE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
_REMEDY = "name a folder that was written by: ssdlab pts TARGET -o DIR"


@dataclass(frozen=True)
class PartRead:
    """A part and its rounds.

    Attributes
    ----------
    test
        Name and title of its test, and its parts' data, as the plan has it.
    plan
        What was to be done.
    rounds
        What was, without raw records.
    beginning
        Purge and conditioning; None where they have not ended.
    summary
        What follows from the rounds, as in ``result.json``; None where there is no round. A part
        that has not ended has "unfinished" among its remarks.
    afterwards
        How many steps after steady state there are.
    """

    test: Mapping[str, Any]
    plan: Part
    rounds: Sequence[Mapping[str, Any]]
    beginning: Mapping[str, Any] | None
    summary: Mapping[str, Any] | None
    afterwards: int = 0

    @property
    def state(self) -> str:
        """Say how far it is."""
        if self.summary is None:
            return "not begun" if self.beginning is None else "no round yet"
        return state(self.summary)


@dataclass(frozen=True)
class Measured:
    """What a result holds.

    Attributes
    ----------
    label
        Names the target, and the path where several have the same name.
    path
        The folder, or the file.
    asked, target, plan
        As in ``plan.json``.
    runs
        As in ``runs.json``.
    parts
        All parts of the plan in order.
    agrees
        Whether ``result.json`` says what follows from the rounds; None where there is none.
    unread
        What in it is not understood.
    """

    label: str
    path: Path
    asked: Mapping[str, Any]
    target: Mapping[str, Any]
    plan: Mapping[str, Any]
    runs: Sequence[Mapping[str, Any]]
    parts: Sequence[PartRead]
    agrees: bool | None
    unread: tuple[Unread, ...] = ()

    @property
    def begun_parts(self) -> list[PartRead]:
        """Return the parts that have a round."""
        return [part for part in self.parts if part.summary is not None]


def not_judged(several: Sequence[Measured]) -> list[Unread]:
    """Tell what is not understood: unknown names and files, and a ``result.json`` that differs.

    One that does not say what follows from the rounds is of a folder that was changed.
    """
    why = (
        "it does not say what follows from the rounds beside it: a file of the folder was changed, "
        "or another version of ssdlab wrote it"
    )
    places = [each.path / "result.json" for each in several if each.agrees is False]
    changed = [Unread(str(place), "result.json", why) for place in places]
    return [each for measured in several for each in measured.unread] + changed


def read_folder(folder: Path) -> list[Measured]:
    """Read a folder; one that has a folder for each target stands for these.

    Raises
    ------
    SsdlabError
        There is no result in it, or it is damaged.
    """
    return [_measured(place) for place in _places(folder)]


def _places(folder: Path) -> list[Path]:
    if (folder / "plan.json").exists():
        return [folder]
    within = sorted(place.parent for place in folder.glob("*/plan.json"))
    if not within:
        kind = what_the_file_is(folder)
        what = f"; {kind.told(str(folder))}" if kind and kind.verb else ""
        raise SsdlabError(
            f"{folder}: holds no result of `ssdlab pts`: there is no plan.json{what}\n{_REMEDY}"
        )
    return within


@contextmanager
def blaming(where: object) -> Iterator[None]:
    """Name the file or the folder where something in it is out of shape."""
    try:
        yield
    except SsdlabError as error:
        raise SsdlabError(f"{str(error).splitlines()[0]}\n{_REMEDY}") from error
    except _OF_ANOTHER_SHAPE as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise SsdlabError(
            f"{where}: an entry is missing or has the wrong type ({what})\n{_REMEDY}"
        ) from error


def _measured(place: Path) -> Measured:
    store = Store(place)
    with blaming(place / "plan.json"):
        kept = store.plan()
        asked, target, plan = kept["asked"], kept["target"], kept["plan"]
        if "recipe" in asked:
            raise SsdlabError(f"{place}: the record of `ssdlab season` has no report")
        capacity = int(target["capacity_bytes"])
        planned = [(test, _part(part)) for test in plan["tests"] for part in test["parts"]]
    parts, unread = [], list(_strange_plan(kept, place / "plan.json"))
    for test, part in planned:
        with blaming(place / part.name):
            count = next(len(p["afterwards"]) for p in test["parts"] if p["name"] == part.name)
            read, strange = _part_read(store, test, part, count, capacity)
        parts.append(read)
        unread += strange
    with blaming(place / "runs.json"):
        runs = store.runs()
        unread += known.strange_names(store.record_of_runs(), known.RUNS, place / "runs.json")
    with blaming(place / "result.json"):
        result = store.result()
        agrees = _agrees(result, parts)
        if result is not None:
            unread += known.strange_version(result, place / "result.json")
            unread += known.strange_names(result, known.RESULT, place / "result.json")
    counts = {each.plan.name: (len(each.rounds), each.afterwards) for each in parts}
    unread += known.strange_files(place, counts)
    return Measured(str(place), place, asked, target, plan, runs, parts, agrees, tuple(unread))


def _strange_plan(kept: Mapping[str, Any], file: Path) -> Iterator[Unread]:
    yield from known.strange_version(kept, file)
    yield from known.strange_names(kept, known.PLAN, file)


def _part_read(
    store: Store, test: Mapping[str, Any], part: Part, afterwards: int, capacity: int
) -> tuple[PartRead, list[Unread]]:
    """Return a part, and what in its files is not understood."""
    kept = store.part(part.name)
    rounds, beginning = kept.rounds(), kept.beginning()
    after = kept.afterwards()
    summary = part_summary(part, kept, capacity)
    if summary is not None:
        ended = has_ended(part, rounds, capacity) and len(summary["afterwards"]) == afterwards
        remarks = summary["remarks"] if ended else [*summary["remarks"], "unfinished"]
        summary = {**summary, "remarks": remarks}
    place = store.folder / part.name
    unread = list(known.strange_names(beginning, known.BEGINNING, place / "beginning.json"))
    for name, shape, several in (
        ("round", known.ROUND, rounds),
        ("afterwards", known.AFTERWARDS, after),
    ):
        for number, each in enumerate(several, start=1):
            unread += known.strange_names(each, shape, place / f"{name}-{number:04}.json")
    return PartRead(test, part, rounds, beginning, summary, len(after)), unread


def _agrees(result: Mapping[str, Any] | None, parts: Sequence[PartRead]) -> bool | None:
    """Compare what was kept at the end with what the rounds say now."""
    if result is None:
        return None
    kept = [part for test in result["tests"] for part in test["parts"]]
    found = [Store.as_kept(part.summary) for part in parts if part.summary is not None]
    return kept == found


def _part(data: Mapping[str, Any]) -> Part:
    """Build a part anew from its data; steps afterwards are only counted."""
    wipc = data["conditioning"]
    return Part(
        name=str(data["name"]),
        conditioning=wipc and Conditioning(Workload(**wipc["load"]), wipc["passes"]),
        cells=tuple(_cell(each) for each in data["cells"]),
        tracking=Tracking(**data["tracking"]),
        stop=StopRule(**data["stop"]),
        checkpoint=data["checkpoint"],
    )


def _cell(data: Mapping[str, Any]) -> Cell:
    precision = data["precision"]
    return Cell(
        data["name"],
        Workload(**data["load"]),
        data["seconds"],
        precision and Precision(**precision),
    )
