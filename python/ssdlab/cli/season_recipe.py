"""``ssdlab season --recipe`` on a simulated drive: the steps of a real one, in virtual time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ssdlab.bench import recipes
from ssdlab.bench.bench import Pace
from ssdlab.bench.procedure import PartRun
from ssdlab.bench.seasoned import exit_code, seasoned
from ssdlab.bench.shorter import with_cells_of, with_rounds_of
from ssdlab.bench.simulated import SimulatedTarget
from ssdlab.bench.store import Store
from ssdlab.cli.console import print_json, print_text
from ssdlab.cli.tasks import carry_out
from ssdlab.engine import Progress
from ssdlab.engine.request import RunRequest
from ssdlab.ground.errors import SsdlabError, Stopped
from ssdlab.ground.exit_codes import Exit
from ssdlab.ground.output import is_stdout


@dataclass(frozen=True)
class RecipeOptions:
    """What the user asked for.

    Attributes
    ----------
    request
        Drive, settings and seed.
    recipe
        Its name.
    place
        Where the drive is kept.
    cell_seconds, most_rounds
        As for a real drive.
    """

    request: RunRequest
    recipe: str
    place: str
    cell_seconds: float
    most_rounds: int | None


def season_recipe(asked: RecipeOptions, *, as_json: bool) -> Exit:
    """Carry a recipe out, keep the drive, and say what was done; returns the exit code.

    Raises
    ------
    SsdlabError
        It is no single SSD, or the place cannot be written to.
    Stopped
        On Ctrl-C; nothing is kept.
    """
    if is_stdout(asked.place):
        raise SsdlabError(f"-o {asked.place}: the drive goes there\nname a file")
    (record,), _ = carry_out([asked.recipe], [lambda progress: _performed(asked, progress)])
    if record is None:
        raise Stopped
    if as_json:
        print_json({**record, "drive_file": asked.place})
    else:
        print_text(f"{asked.place}: recipe {asked.recipe}, {record['title']}")
        for each in record["known_by"]:
            print_text(f"  {each}")
    return exit_code(record)


def _performed(asked: RecipeOptions, progress: Progress) -> dict[str, Any]:
    target = SimulatedTarget(asked.request)
    if target.resumption != "state":
        raise SsdlabError(
            f"{asked.request.drive}: --recipe keeps a single SSD, and this is none\n"
            "name a profile of an SSD; ssdlab drives lists them"
        )
    target.resumption = "rerun"  # Nothing is taken up again, so no state is kept on the way.
    capacity, sector = target.describe().capacity_bytes, target.describe().sector_bytes
    plan = recipes.plan(asked.recipe, asked.request.seed, sector)
    plan = with_rounds_of(with_cells_of(plan, asked.cell_seconds), asked.most_rounds)
    ((part,),) = (test.parts for test in plan.tests)
    with TemporaryDirectory(prefix="ssdlab-recipe-") as folder:
        store = Store(Path(folder))
        PartRun(part, target, store.part(part.name), plan.seed, Pace(part, progress).told).perform()
        record = seasoned(plan, store, capacity)
    target.keep(Path(asked.place))
    return record
