"""``ssdlab season`` on a block device or an NBD export: a recipe, step by step, with its record."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from ssdlab import engine
from ssdlab.bench import recipes
from ssdlab.bench.bench import Bench
from ssdlab.bench.plan import Plan
from ssdlab.bench.real.wishes import Wishes
from ssdlab.bench.seasoned import exit_code, seasoned
from ssdlab.bench.shorter import BOOK_S, with_cells_of, with_rounds_of
from ssdlab.bench.store import Store
from ssdlab.bench.target import Target
from ssdlab.bench.targets import source
from ssdlab.cli.bench_options import begin, perform, result_folder, show_drive
from ssdlab.cli.console import note, print_text
from ssdlab.cli.pts_effort import tell_effort, tell_obstacles
from ssdlab.ground import signals
from ssdlab.ground.errors import SsdlabError


@dataclass(frozen=True)
class RealSeasonOptions:
    """What the user asked for; the fields are the options of those names."""

    drive: str
    recipe: str | None
    seed: int
    output: str | None
    cell_seconds: float
    most_rounds: int | None
    resume: bool
    dry_run: bool
    destroy: tuple[str, ...]
    destroy_content: tuple[str, ...]
    purge: str
    no_serial: bool

    @property
    def wishes(self) -> Wishes | None:
        """What the user allows; None where the drive is only looked at."""
        if self.dry_run:
            return None
        return Wishes(self.destroy, self.destroy_content, self.purge, not self.no_serial)

    @property
    def command(self) -> str:
        """The command that does the same again; the folder plays no part."""
        words = ["ssdlab", "season", self.drive, "--recipe", str(self.recipe)]
        words += ["--seed", str(self.seed), "--purge", self.purge, "--destroy", self.drive]
        if self.cell_seconds != BOOK_S:
            words += ["--cell-seconds", f"{self.cell_seconds:g}"]
        if self.most_rounds is not None:
            words += ["--most-rounds", str(self.most_rounds)]
        return shlex.join(words)


def season_real(asked: RealSeasonOptions) -> int:
    """Precondition a real drive; returns the exit code.

    Raises
    ------
    SsdlabError
        No recipe is named, the drive is refused, or it or fio failed.
    """
    if asked.recipe is None:
        raise SsdlabError(
            f"{asked.drive}: is real; --recipe tells how to precondition it\n"
            f"recipes: {', '.join(recipes.RECIPES)}"
        )
    with ExitStack() as held:
        found = source(asked.drive, (), (), asked.seed, asked.wishes, show_drive)
        held.callback(found.release)
        target = found.make()
        plan = _plan(asked, target)
        speeds = target.speeds()
        tell_effort(asked.drive, target.describe(), plan, speeds, with_steps=asked.dry_run)
        tell_obstacles(asked.drive, found.obstacles)
        if asked.dry_run:
            return 0
        store = Store(result_folder(asked.output, "season", asked.drive))
        return _perform(Bench(plan, found.make, store, _told(asked), seasoned), asked)


def _plan(asked: RealSeasonOptions, target: Target) -> Plan:
    plan = recipes.plan(str(asked.recipe), asked.seed, target.describe().sector_bytes)
    plan = with_rounds_of(with_cells_of(plan, asked.cell_seconds), asked.most_rounds)
    # What the standard asks of a target counts where the recipe is the standard's.
    is_standard = all(part.without_cache for test in plan.tests for part in test.parts)
    return plan.with_deviations(target.deviations()) if is_standard else plan


def _told(asked: RealSeasonOptions) -> dict[str, Any]:
    left_out = ("output", "resume", "dry_run", "drive")
    told = {name: value for name, value in asdict(asked).items() if name not in left_out}
    told |= {"target": asked.drive, "settings": (), "layers": ()}
    return {**told, "version": engine.version(), "command": asked.command}


def _perform(bench: Bench, asked: RealSeasonOptions) -> int:
    begin(bench, asked.resume)
    if perform([bench], [asked.drive], side_by_side=False):
        note("ssdlab: stopped; finished steps are kept; continue with --resume")
        return signals.exit_code()
    result = bench.finish()
    remark = "" if result["purge"]["proved"] else ", NOT PURGED"
    print_text(f"{asked.drive}: recipe {asked.recipe} is done{remark}")
    for each in result["known_by"]:
        print_text(f"  {each}")
    return exit_code(result)
