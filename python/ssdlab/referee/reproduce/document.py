"""A performance as data: rows, verdicts and figures of all answered questions, ready for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ssdlab.experiment.experiment import Experiment, Scene
from ssdlab.experiment.scale import Scale
from ssdlab.referee.reproduce import calibration, effects, judging, provenance
from ssdlab.referee.reproduce.intervals import Spread, Spreads
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.provenance import Fitted
from ssdlab.referee.reproduce.question import Question
from ssdlab.referee.reproduce.results import Results
from ssdlab.referee.reproduce.specified import Specified


@dataclass(frozen=True)
class Answer:
    """A question that was answered.

    Attributes
    ----------
    question, results
        What was asked, and what the runs gave.
    rows
        What is compared.
    kinds
        For each row, where the parameters that decide it come from.
    spreads
        For each row, what an ensemble of drives says of it; None where none was run.
    finding, picture
        The answer, and inline SVG.
    cpu_s
        Processor seconds of its runs.
    """

    question: Question
    results: Results
    rows: list[JudgedRow]
    kinds: list[dict[str, str]]
    spreads: list[Spread | None]
    finding: str
    picture: str
    cpu_s: float


def answer(
    question: Question, results: Results, cpu_s: float, spreads: Spreads | None = None
) -> Answer:
    """Read the answer to a question from its results, beside what an ensemble says of its rows."""
    rows = question.rows(results)
    drives = results.parameters()
    kinds = [provenance.kinds(row, drives) for row in rows]
    of_rows = [(spreads or {}).get((question.name, row.condition)) for row in rows]
    finding, picture = question.finding(results), question.picture(results)
    return Answer(question, results, rows, kinds, of_rows, finding, picture, cpu_s)


def tally(rows: Sequence[JudgedRow]) -> str:
    """Say how many rows hold.

    Examples
    --------
    >>> tally([])
    '0 of 0 independent ratios inside their band; 0 of 0 statements hold'
    """
    counted = [row for row in rows if row.counted]
    inside = sum(row.verdict == judging.INSIDE for row in counted)
    holding, failing, outside = (
        sum(row.verdict == verdict for row in rows)
        for verdict in (judging.HOLDS, judging.FAILS, judging.OUTSIDE)
    )
    return (
        f"{inside} of {len(counted)} independent ratios inside their band; "
        f"{holding} of {holding + failing + outside} statements hold"
        + (f", {outside} more outside the document's figure" if outside else "")
    )


def all_rows(answers: Sequence[Answer]) -> list[JudgedRow]:
    """Return the rows of all questions."""
    return [row for each in answers for row in each.rows]


def rows_with_spreads(answers: Sequence[Answer]) -> list[tuple[JudgedRow, Spread | None]]:
    """Return the rows of all questions, each with what an ensemble says of it."""
    return [pair for each in answers for pair in zip(each.rows, each.spreads, strict=True)]


def fitted(answers: Sequence[Answer]) -> list[Fitted]:
    """Return what was fitted to what, of all that was run."""
    others = [fit for each in answers for fit in each.question.fitted]
    return provenance.fitted([each.results for each in answers], others)


def as_data(answers: Sequence[Answer], scale: Scale, version: str) -> dict[str, Any]:
    """Return everything but the pictures."""
    return {
        "ssdlab reproduce": version,
        "scale": asdict(scale),
        "effects": effects.told(all_rows(answers)),
        "tally": tally(all_rows(answers)),
        "intervals": calibration.told(rows_with_spreads(answers)),
        "questions": [_question(each, scale) for each in answers],
        "fitted": [asdict(each) for each in fitted(answers)],
    }


def _question(found: Answer, scale: Scale) -> dict[str, Any]:
    question = found.question
    return {
        "number": question.number,
        "name": question.name,
        "title": question.title,
        "said": [{"where": where, "what": what} for where, what in question.said],
        "rows": [
            _row(row, kinds, spread)
            for row, kinds, spread in zip(found.rows, found.kinds, found.spreads, strict=True)
        ],
        "mechanism": question.mechanism,
        "verdict": found.finding,
        "stand_ins": list(question.stand_ins),
        "experiments": [
            _performed(each, found.results, scale) for each in question.experiments(scale)
        ],
        "cpu_s": round(found.cpu_s, 1),
    }


def _row(row: JudgedRow, kinds: dict[str, str], spread: Spread | None) -> dict[str, Any]:
    return {
        **asdict(row),
        "ensemble": None if spread is None else spread.to_dict(row),
        "quotient": row.quotient,
        "effect": None if (effect := effects.effect_of(row)) is None else effect.to_dict(),
        "counted": row.counted,
        "reason": row.why,
        "decided_by": kinds,
    }


def _performed(each: Experiment | Scene | Specified, results: Results, scale: Scale) -> Any:
    if isinstance(each, Scene):
        return _scene(each, results)
    if isinstance(each, Specified):
        return _specified(each, results, scale)
    return _experiment(each, results, scale)


def _specified(each: Specified, results: Results, scale: Scale) -> dict[str, Any]:
    request = each.as_experiment().request(scale, scale.seeds[0])
    return {
        "name": each.name,
        "drive": each.drive,
        "settings": dict(request.settings),
        "layers": list(each.layers),
        "state": each.state,
        "job": each.job,
        "jobs": [
            {
                "seed": seed,
                "job": cell["name"],
                "iops": cell["both"]["iops"],
                "mb_per_s": cell["both"]["mb_per_s"],
                "mean_us": cell["both"]["mean_ns"] / 1e3,
                "rounds": found["part"]["rounds"],
                "steady_reached": found["part"]["steady"],
            }
            for seed, found in zip(scale.seeds, results.specified[each.name], strict=True)
            for cell in found["part"]["cells"]
        ],
    }


def _scene(scene: Scene, results: Results) -> dict[str, Any]:
    return {
        "name": scene.name,
        "drive": scene.drive,
        "settings": dict(scene.settings),
        "layers": list(scene.layers),
        "scenario": scene.scenario,
        "values": dict(scene.values),
        "jobs": [each["scenario"] for each in results.scenes[scene.name]],
    }


def _experiment(experiment: Experiment, results: Results, scale: Scale) -> dict[str, Any]:
    request = experiment.request(scale, scale.seeds[0])
    return {
        "name": experiment.name,
        "drive": experiment.drive,
        "settings": dict(request.settings),
        "layers": list(experiment.layers),
        "state": experiment.state or "fresh",
        "span": experiment.span,
        "job": experiment.job,
        "jobs": [
            {
                "seed": job.seed,
                "job": job.name,
                "iops": job.iops(),
                "mb_per_s": job.bandwidth() / 1e6,
                "mean_us": None if (mean := job.mean_ns()) is None else mean / 1e3,
                "write_amplification": job.write_amplification,
                "steady_reached": job.lab.get("steady_reached"),
            }
            for result in results.of[experiment.name]
            for job in result.jobs
        ],
    }
