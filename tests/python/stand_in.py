"""A stand-in for the engine, where a test is about the command line alone."""

from __future__ import annotations

import json
import types
from collections.abc import Callable
from typing import Any

import synthetic
from ssdlab.ground.output import PendingFile


class EngineError(Exception):
    pass


class Cancelled(Exception):
    pass


class StandIn(types.ModuleType):
    """Records what it was asked, and answers with synthetic results."""

    EngineError = EngineError
    Cancelled = Cancelled

    def __init__(self) -> None:
        super().__init__("ssdlab._engine")
        self.runs: list[dict[str, Any]] = []
        self.stops_half_way = False
        self.on_run: Callable[[dict[str, Any]], None] = lambda asked: None

    def version(self) -> str:
        return "0.1.0"

    def show(self, drive: str, *_: object) -> str:
        return json.dumps({"name": drive, "memory_bytes": 0})

    def run(
        self,
        request_json: str,
        progress: Callable[[str, float], bool] | None,
        files: Callable[[str, str, bool], PendingFile],
    ) -> str:
        asked = {**json.loads(request_json), "progress": progress}
        self.runs.append(asked)
        self.on_run(asked)
        # The handler of a signal runs in the main thread, a moment later.
        stopped = self.stops_half_way
        while stopped and progress is not None and progress("run", 0.5):
            pass
        if progress is not None and not stopped and not progress("run", 0.5):
            raise Cancelled
        job = synthetic.job(
            profile=asked["drive"], seed=asked["seed"], condition=asked["condition"] or "fresh"
        )
        job["ssdlab"]["interrupted"] = stopped
        return synthetic.text(job)

    def check_job(self, job_text: str | None, job_name: str, flags: list[str]) -> str:
        return json.dumps({"jobs": [job_name], "notices": []})

    def render(self, result_json: str, format: str) -> str:
        names = [job["jobname"] for job in json.loads(result_json)["jobs"]]
        return f"{format} of {', '.join(names)}\n"

    def scenario(
        self,
        request_json: str,
        name: str,
        values: list[tuple[str, str]],
        progress: Callable[[str, float], bool] | None,
    ) -> str:
        found = {"scenario": name, "elapsed_s": 1.0, "cpu_s": 0.5, "steps": []}
        asked = json.loads(request_json)
        told = {"profile": asked["drive"], "seed": asked["seed"], "scenario": found}
        return json.dumps({**told, "parameters": []})

    def theory(
        self,
        over_provisioning: float,
        pages_per_block: int,
        gc: str,
        hot_space: float | None,
        hot_writes: float | None,
        trim_share: float | None,
        unwritten_share: float | None,
    ) -> str:
        found = {
            "write_amplification": 1 / over_provisioning,
            "formula": "1 / OP",
            "effective_over_provisioning": over_provisioning,
        }
        return json.dumps(found)
