"""A brush over ten thousand points in a browser: how many redraws, of how many lines, how long.

The times are printed, and asserted by nobody: `pytest -s`.
"""

from __future__ import annotations

import random
import statistics
from pathlib import Path
from typing import Any

import pytest

import browser
from ssdlab.study.sweeps.report import write_sweep_report
from ssdlab.study.sweeps.report.reading import FIGURES
from ssdlab.study.sweeps.store import SweepStore
from test_sweep_study import BASE

pytestmark = pytest.mark.end_to_end

POINTS = 10_000
FRAMES = 40
MOVES_A_FRAME = 5
LANE = "write_p99_us"
DRAFT_LINES, ALL_LINES = 5 * 300, 5 * 1500
"""At most: of four colours, and of the points that are brushed away."""

_DRAG = """new Promise((done) => {
  const box = lines.getBoundingClientRect(), [[x, y], [right, top]] = sweepReport.lane('LANE');
  const seen = [];
  let frame = 0;
  const step = (now) => {
    seen.push([now, sweepReport.drawn(), sweepReport.kept()]);
    if (++frame > FRAMES) { done(seen); return; }
    for (let move = 1; move <= MOVES; move++) {
      const share = (frame + move / MOVES) / (FRAMES + 2);
      const clientX = box.x + x + share * (right - x), clientY = box.y + y + share * (top - y);
      lines.dispatchEvent(new PointerEvent('pointermove', { clientX, clientY }));
    }
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a sweep whose rows have every figure that the report draws, by chance."""
    made, draw = tmp_path_factory.mktemp("redraw"), random.Random(1)
    factors = '[factors]\n"job.iodepth" = { from = 1, to = 100, steps = 100 }\n'
    (made / "study.toml").write_text(
        BASE + "seeds = 50\n" + factors + 'ftl.gc = ["greedy", "fifo"]\n'
    )
    store = SweepStore(made, {"drive": "string", "job.iodepth": "int64", "ftl.gc": "string"})
    for number in range(POINTS):
        row = {"key": f"{number:024}", "drive": "theory", "seed": number // 200 + 1, "job": "job"}
        row |= {figure: draw.lognormvariate(5, 1) for figure in FIGURES}
        gc = ("greedy", "fifo")[number // 100 % 2]
        store.add([{**row, "job.iodepth": number % 100 + 1, "ftl.gc": gc}])
    store.flush()
    return made


@pytest.mark.skipif(browser.found() is None, reason="no Chromium")
def test_a_brush_over_ten_thousand_points(folder: Path, tmp_path: Path) -> None:
    """However many moves, one redraw a frame, of a draft; at rest one of as many lines as ever."""
    write_sweep_report(folder, tmp_path / "page.html")
    page = browser.Browser(tmp_path / "page.html", tmp_path / "browser")
    try:
        assert page.value("sweepReport.rows") == POINTS
        press(page)
        seen = page.value(dragging())
        counts = [drawn["count"] for _, drawn, _ in seen]
        assert counts == list(range(counts[0], counts[0] + FRAMES + 1))
        drafts = [drawn for _, drawn, _ in seen[1:]]
        assert all(each["isDraft"] and 0 < each["lines"] <= DRAFT_LINES for each in drafts)
        kept = [kept for _, _, kept in seen[1:]]
        assert kept == sorted(kept) and kept[0] < kept[-1]
        page.wait_for("!sweepReport.drawn().isDraft")
        whole = page.value("sweepReport.drawn()")
        assert whole["count"] == counts[-1] + 1 and DRAFT_LINES < whole["lines"] <= ALL_LINES
        assert page.complaints == []
        tell(seen, whole)
    finally:
        page.close()


def press(page: browser.Browser) -> None:
    """Press the button at the low end of a lane."""
    page.middle("document.getElementById('lines')")
    x, y = page.value(
        f"(() => {{ const [[x, y]] = sweepReport.lane('{LANE}');"
        "const b = lines.getBoundingClientRect(); return [b.x + x, b.y + y]; })()"
    )
    page.ask("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)


def dragging() -> str:
    found = _DRAG.replace("LANE", LANE).replace("FRAMES", str(FRAMES))
    return found.replace("MOVES", str(MOVES_A_FRAME))


def tell(seen: list[Any], whole: dict[str, Any]) -> None:
    script = statistics.median(drawn["ms"] for _, drawn, _ in seen[1:])
    times = [now for now, _, _ in seen]
    frame = statistics.median(b - a for a, b in zip(times, times[1:], strict=False))
    print(
        f"\na brush over {POINTS} points, median of {FRAMES} redraws: {script:.1f} ms in the",
        end="",
    )
    print(f" script, a frame every {frame:.1f} ms; at rest {whole['ms']:.1f} ms in the script")
