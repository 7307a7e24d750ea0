"""The folder of a result: everything that was measured, each file written when it is finished.

    plan.json                   what was asked of which target, with deviations
    runs.json                   when it was begun, and taken up again after an interruption
    PART/beginning.json         purge and conditioning
    PART/round-0001.json …      a round each: every cell's figures and raw record
    PART/afterwards-0001.json … steps after steady state
    PART/state-0001.ssd         a simulated drive after that round, while the part is unfinished
    result.json                 what follows from the rounds, when all tests have ended

Only `runs.json` tells of times of day and of interruptions: all else is the same, byte for byte,
on a target whose resumption is ``state`` or ``rerun``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ssdlab.bench.ending import without_raw
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import RESULT_BYTES, InputError, read_text
from ssdlab.ground.output import PendingFile

SCHEMA_VERSION = 1
"""Grows where a field changes its meaning or goes."""


class Store:
    """A result's folder.

    Parameters
    ----------
    folder
        Exists.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def begun(self) -> bool:
        """Whether a plan lies there."""
        return (self.folder / "plan.json").exists()

    @staticmethod
    def as_kept(data: Mapping[str, Any]) -> dict[str, Any]:
        """Return data as it is read again once it was written."""
        return dict(json.loads(json.dumps(data)))

    def write_plan(self, plan: Mapping[str, Any]) -> None:
        """Write what is asked for."""
        self._write("plan.json", {"schema_version": SCHEMA_VERSION, **plan})

    def plan(self) -> dict[str, Any]:
        """Read it."""
        return self._read("plan.json")

    def write_result(self, result: Mapping[str, Any]) -> None:
        """Write the end."""
        self._write("result.json", {"schema_version": SCHEMA_VERSION, **result})

    def result(self) -> dict[str, Any] | None:
        """Read the end; None where it has not come yet."""
        return self._read("result.json") if (self.folder / "result.json").exists() else None

    def runs(self) -> list[dict[str, Any]]:
        """Read when it was begun and taken up again; one entry where it was not interrupted."""
        return list(self.record_of_runs()["runs"])

    def record_of_runs(self) -> dict[str, Any]:
        """Read the file that has them; one without an entry where there is none."""
        return self._read("runs.json") if (self.folder / "runs.json").exists() else {"runs": []}

    def mark_run(self, mark: Mapping[str, Any]) -> None:
        """Add an entry."""
        self._write("runs.json", {"runs": [*self.runs(), mark]})

    def part(self, name: str) -> PartStore:
        """Return the folder of a part, which is made when it is first written to."""
        return PartStore(self, name)

    def _write(self, name: str, data: Mapping[str, Any]) -> None:
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        with PendingFile(self.folder / name, "-o") as pending:
            pending.write(text + "\n")

    def _read(self, name: str) -> dict[str, Any]:
        path = self.folder / name
        try:
            data = json.loads(read_text(path, RESULT_BYTES))
        except (FileNotFoundError, InputError, ValueError, RecursionError) as error:
            raise SsdlabError(
                f"{path}: cannot be read: {error}\nstart again in another folder"
            ) from None
        if not isinstance(data, dict):
            raise SsdlabError(
                f"{path}: is not a file of `ssdlab pts`\nstart again in another folder"
            )
        return data


class PartStore:
    """A part's folder."""

    def __init__(self, store: Store, name: str) -> None:
        self._store = store
        self._name = name

    def state(self, number: int) -> Path:
        """Return where the drive's state after so many rounds is kept; 0 is before the first."""
        return self._folder() / f"state-{number:04}.ssd"

    def newest_state(self, most: int) -> int | None:
        """Return after how many rounds, at most so many, the newest kept state is."""
        found = (int(each.stem.removeprefix("state-")) for each in self._states())
        return max((number for number in found if number <= most), default=None)

    def forget_states(self, but: int | None = None) -> None:
        """Remove the states that were kept, except the one after so many rounds."""
        for each in self._states():
            if but is None or each != self.state(but):
                each.unlink(missing_ok=True)

    def _states(self) -> list[Path]:
        return sorted((self._store.folder / self._name).glob("state-[0-9]*.ssd"))

    def write_beginning(self, data: Mapping[str, Any]) -> None:
        """Write purge and conditioning."""
        self._write("beginning", data)

    def beginning(self) -> dict[str, Any] | None:
        """Read them; None where they have not ended."""
        return self._read("beginning")

    def write_round(self, number: int, data: Mapping[str, Any]) -> None:
        """Write a round, counted from 1."""
        self._write(f"round-{number:04}", data)

    def round(self, number: int) -> dict[str, Any] | None:
        """Read a round with its raw records; None where it has not ended."""
        return self._read(f"round-{number:04}")

    def rounds(self) -> list[dict[str, Any]]:
        """Read the rounds that there are, the first one first, without raw records."""
        return self._series(self.round)

    def write_afterwards(self, number: int, data: Mapping[str, Any]) -> None:
        """Write a step after steady state, counted from 1."""
        self._write(f"afterwards-{number:04}", data)

    def afterwards_at(self, number: int) -> dict[str, Any] | None:
        """Read a step after steady state, with its raw record; None where it has not ended."""
        return self._read(f"afterwards-{number:04}")

    def afterwards(self) -> list[dict[str, Any]]:
        """Read the steps after steady state that there are, without raw records."""
        return self._series(self.afterwards_at)

    def _series(self, at: Callable[[int], dict[str, Any] | None]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while (data := at(len(found) + 1)) is not None:
            found.append(without_raw(data))
        return found

    def _folder(self) -> Path:
        folder = self._store.folder / self._name
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise SsdlabError(f"-o {folder}: {error.strerror}") from None
        return folder

    def _write(self, name: str, data: Mapping[str, Any]) -> None:
        self._folder()
        self._store._write(f"{self._name}/{name}.json", data)

    def _read(self, name: str) -> dict[str, Any] | None:
        name = f"{self._name}/{name}.json"
        return self._store._read(name) if (self._store.folder / name).exists() else None
