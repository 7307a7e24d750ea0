"""The page: intervals of figures, what they hang on, and ratios to the first drive by draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ssdlab.experiment.ensemble import pairing
from ssdlab.experiment.ensemble.document import Arm
from ssdlab.experiment.ensemble.model_error import LEFT_OUT, MODEL_ERROR
from ssdlab.experiment.ensemble.pairing import Pairing
from ssdlab.ground import pages
from ssdlab.ground.errors import SsdlabError
from ssdlab.report import limits
from ssdlab.report.ensemble import charts

_TITLE = "What the assumptions leave open"
_HEADINGS = ("job", "figure", "profile", "median", "5 to 95 %", "hangs on")
_LIMITS = (
    f"Intervals of rates and write amplification hold the model's own error ({MODEL_ERROR:.1%}); "
    f"{LEFT_OUT}.",
    "What was fitted or published is not drawn: the intervals hold neither a fit's own error nor "
    "the differences between drives of one model.",
    *limits.ALWAYS,
)


def build_html(arms: Sequence[Arm], title: str | None = None) -> str:
    """Return the page as text.

    Parameters
    ----------
    arms
        At least one.
    title
        The heading; by default what an ensemble tells.
    """
    compared, why_not = _compared(arms)
    return pages.render(
        "ssdlab.report.ensemble",
        css=pages.embedded("ssdlab.report", "page.css"),
        title=title or _TITLE,
        drives=", ".join(dict.fromkeys(arm.drive for arm in arms)),
        headings=_HEADINGS,
        arms=[_arm(arm, f"arm-{number}") for number, arm in enumerate(arms)],
        ratio_headings=pairing.HEADINGS,
        ratios=[] if compared is None else _ratios(compared),
        baseline=arms[0].name,
        remarks=[why_not] if compared is None else compared.remarks,
        assumptions=_assumptions(arms),
        limits=_LIMITS,
    )


def _arm(arm: Arm, name: str) -> dict[str, Any]:
    rows = [
        (
            each.job,
            each.label,
            each.show(each.point),
            each.show(each.median),
            f"{each.show(each.low)} … {each.show(each.high)}",
            arm.hangs_on(each),
        )
        for each in arm.figures
    ]
    return {
        "name": arm.name,
        "draws": arm.runs,
        "left_out": len(arm.left_out),
        "assumed": len(arm.assumptions),
        "rows": rows,
        "chart": charts.intervals(name, arm),
    }


def _compared(arms: Sequence[Arm]) -> tuple[Pairing | None, str]:
    """Return the comparison, or why there is none; a single drive needs no reason."""
    if len(arms) < 2:
        return None, ""
    try:
        return pairing.compare(arms), ""
    except SsdlabError as error:
        return None, f"The drives are not compared: {str(error).splitlines()[0]}."


def _ratios(compared: Pairing) -> list[dict[str, Any]]:
    found = []
    for number, arm in enumerate(compared.arms[1:]):
        rows = [row for row in compared.rows if row.arm == arm]
        if rows:
            cells = [pairing.cells(row) for row in rows]
            drawn = charts.ratios(f"ratio-{number}", rows)
            found.append({"name": arm, "rows": cells, "chart": drawn})
    return found


def _assumptions(arms: Sequence[Arm]) -> list[tuple[str, str, str]]:
    """Return every number that was drawn once: key, limits, reason."""
    found = {str(each["key"]): _told(each) for arm in arms for each in arm.assumptions}
    return list(found.values())


def _told(assumption: Mapping[str, Any]) -> tuple[str, str, str]:
    limits = next(
        f"{form}: {', '.join(str(each) for each in value)}"
        for form, value in assumption.items()
        if isinstance(value, list)
    )
    return str(assumption["key"]), limits, str(assumption["reason"])
