"""The loop of a part: purge, conditioning, rounds until the stop rule holds, steps afterwards.

A round is on disk when it ends. A part that was interrupted goes on

- from the newest state that was kept: rounds after it are performed again, and must give the same;
- or, where a target keeps no state but does the same again, from the purge;
- or with the drive as it is.

Before a round's file stands the state after it, and the state before it goes only when both are
there, so that a stop at any moment loses a round at most.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ssdlab.bench.ending import has_ended, without_raw
from ssdlab.bench.measurement import StepMeasurement
from ssdlab.bench.plan import Cell, Part, Pauses, Step
from ssdlab.bench.store import PartStore, Store
from ssdlab.bench.target import Target
from ssdlab.engine import Progress
from ssdlab.ground.errors import SsdlabError

HearRound = Callable[[int, str, float], bool]
"""Called with rounds done, what is under way and its share; returns False to stop."""


class PartRun:
    """A part on its way.

    Parameters
    ----------
    part
        What is to be done.
    target
        The drive.
    store
        Where it is kept.
    seed
        The plan's.
    told
        Hears of progress.
    """

    def __init__(
        self, part: Part, target: Target, store: PartStore, seed: int, told: HearRound
    ) -> None:
        self._part = part
        self._target = target
        self._store = store
        self._seed = seed
        self._told = told
        self._capacity = target.describe().capacity_bytes
        self._rounds: list[dict[str, Any]] = []
        self._offsets: dict[str, int] = {}
        # Rounds and steps afterwards that the target has behind it, from where it was taken up.
        self._behind = 0

    def perform(self) -> None:
        """Do all of it that has not been done.

        Raises
        ------
        SsdlabError
            The target failed, or did not do the same again.
        Stopped
            Progress was answered with False.
        """
        kept, after = self._store.rounds(), len(self._store.afterwards())
        complete = self._store.beginning() is not None and after == len(self._part.afterwards)
        if not (complete and has_ended(self._part, kept, self._capacity)):
            self._take_up(kept, len(kept) + after)
            while not has_ended(self._part, self._rounds, self._capacity):
                self._one_round()
            for place in range(len(self._part.afterwards)):
                self._one_afterwards(place)
        self._store.forget_states()

    def _take_up(self, kept: list[dict[str, Any]], done: int) -> None:
        """Bring the target to where the newest state is, or to where rounds begin."""
        state = self._store.newest_state(done) if self._target.resumption == "state" else None
        if state is not None and self._store.beginning() is not None:
            self._target.go_on_from(self._store.state(state))
            self._behind = state
        elif self._target.resumption == "as it is" and self._store.beginning() is not None:
            self._cache_off()
            self._behind = done
        else:
            self._begin()
        for each in kept[: self._behind]:
            self._remember(each)

    def _remember(self, data: Mapping[str, Any]) -> None:
        self._rounds.append(without_raw(data))
        self._note_offsets(data["cells"])

    def _begin(self) -> None:
        """Purge, switch the write cache off, condition."""
        purged = self._target.purge()
        cache = self._cache_off()
        before = self._counted()
        data: dict[str, Any] = {
            "purge": asdict(purged),
            "write_cache": cache,
            "counters_before": before,
            "conditioning": self._conditioned(),
            "counters_after": self._counted(),
        }
        self._checkpoint(0)
        self._keep(data, self._store.beginning(), self._store.write_beginning)

    def _cache_off(self) -> dict[str, Any] | None:
        return asdict(self._target.write_cache_off()) if self._part.without_cache else None

    def _conditioned(self) -> dict[str, Any] | None:
        conditioning = self._part.conditioning
        if conditioning is None:
            return None
        seed = self._seed_of("conditioning", 0, 0)
        step = Step("conditioning", conditioning.load, seed, passes=conditioning.passes)
        measured = self._target.perform(step, self._progress("conditioning", 0.0, 1.0))
        self._check_written(step, measured)
        return {"step": asdict(step), **measured.to_data()}

    def _check_written(self, step: Step, measured: StepMeasurement) -> None:
        """Refuse a conditioning that wrote something else than it was to."""
        asked = (step.passes or 0) * self._capacity
        load = step.load
        # A thread's share is a whole number of blocks, in each pass.
        slack = load.block_bytes * load.threads * (step.passes or 0)
        if not asked - slack <= measured.write.total_bytes <= asked:
            raise SsdlabError(
                f"{self._part.name}: preconditioning wrote {measured.write.total_bytes} bytes, "
                f"not {asked:.0f}; the drive is not in the state that the test requires"
            )

    def _one_round(self) -> None:
        number = len(self._rounds) + 1
        data = self._round(number)
        is_checkpoint = number % self._part.checkpoint == 0
        if is_checkpoint:
            self._checkpoint(number)
        self._keep(
            data, self._store.round(number), lambda data: self._store.write_round(number, data)
        )
        if is_checkpoint:
            self._store.forget_states(but=number)
        self._remember(data)

    def _round(self, number: int) -> dict[str, Any]:
        cells = self._cells(number)
        last = self._rounds[-1] if self._rounds else {"elapsed_s": 0.0, "written_bytes": 0}
        written = sum(each["write"]["total_bytes"] + each["rest_bytes"] for each in cells)
        return {
            "round": number,
            "elapsed_s": last["elapsed_s"] + sum(each["seconds"] for each in cells),
            "written_bytes": last["written_bytes"] + written,
            "cells": cells,
        }

    def _cells(self, number: int) -> list[dict[str, Any]]:
        count = len(self._part.cells)
        return [
            self._one_cell(cell, None, number, place, (place / count, 1 / count))
            for place, cell in enumerate(self._part.cells)
        ]

    def _one_cell(
        self, cell: Cell, pauses: Pauses | None, number: int, place: int, part: tuple[float, float]
    ) -> dict[str, Any]:
        step = Step(
            cell.name,
            cell.load,
            self._seed_of("round", number, place),
            seconds=None if cell.passes else cell.seconds,
            passes=cell.passes,
            offset_bytes=self._offsets.get(cell.name, 0),
            precision=cell.precision,
            pauses=pauses,
        )
        measured = self._target.perform(step, self._progress(cell.name, *part))
        counters = self._counted()
        return {"name": cell.name, "step": asdict(step), **measured.to_data(), "counters": counters}

    def _one_afterwards(self, place: int) -> None:
        number = len(self._rounds) + place + 1
        if number <= self._behind:
            return
        each, count = self._part.afterwards[place], len(self._part.afterwards)
        data = self._one_cell(each.cell, each.pauses, number, 0, (place / count, 1 / count))
        self._checkpoint(number)
        stored = self._store.afterwards_at(place + 1)
        self._keep(data, stored, lambda data: self._store.write_afterwards(place + 1, data))
        self._store.forget_states(but=number)

    def _keep(
        self,
        data: Mapping[str, Any],
        stored: Mapping[str, Any] | None,
        write: Callable[[Mapping[str, Any]], None],
    ) -> None:
        """Write what is new; what is there already must be the same."""
        if stored is None:
            write(data)
        elif self._target.resumption != "as it is" and Store.as_kept(data) != stored:
            raise SsdlabError(
                f"{self._part.name}: a repeated step gave another result than that in the folder: "
                "ssdlab or a file has changed since\nstart again in another folder"
            )

    def _checkpoint(self, number: int) -> None:
        if self._target.resumption == "state":
            self._target.keep(self._store.state(number))

    def _note_offsets(self, cells: Sequence[Mapping[str, Any]]) -> None:
        """Let a sequential cell go on where it stopped, and begin again before the drive ends."""
        for each in cells:
            load = each["step"]["load"]
            if load["pattern"] == "sequential":
                moved = each["both"]["total_bytes"] // load["threads"]
                moved -= moved % load["block_bytes"]
                begun = each["step"]["offset_bytes"]
                share = self._capacity // load["threads"]
                fits = begun + 2 * moved <= share
                self._offsets[each["name"]] = begun + moved if fits else 0

    def _counted(self) -> dict[str, Any] | None:
        counters = self._target.counters()
        return None if counters is None else asdict(counters)

    def _progress(self, what: str, first: float, share: float) -> Progress:
        def progress(_phase: str, done: float) -> bool:
            return self._told(len(self._rounds), what, first + share * done)

        return progress

    def _seed_of(self, kind: str, number: int, place: int) -> int:
        """Return a seed of 48 bits for a step; every step of a plan has its own."""
        text = f"{self._seed} {self._part.name} {kind} {number} {place}"
        return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=6).digest(), "big")
