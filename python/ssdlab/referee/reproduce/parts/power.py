"""What link power management saves, and what it costs: a drive that is asked now and then."""

from __future__ import annotations

from ssdlab.engine.request import Settings
from ssdlab.experiment.experiment import Experiment, section
from ssdlab.ground import documents, text
from ssdlab.referee.reproduce import judging
from ssdlab.referee.reproduce.judging import JudgedRow
from ssdlab.referee.reproduce.results import Results

SSD = "super-talent-ultradrive-gx-256gb"
ARTICLE = "Stapelberg, Super Talent Solid State Disk im Test"
AWAKE, ASLEEP, HANGS = "link awake", "link managed", "link managed, as that drive's"
_AFTER: Settings = (("power.slumber_after_ms", "20"),)
_NEVER: Settings = (("link.hang_share", "0"),)
BATTERY_WH, LASTS_H = 84.2, 535 / 60
NOTEBOOK_W = BATTERY_WH / LASTS_H
"""The article's notebook, a Thinkpad X200: nine cells, half as many again as the six with 5.2 Ah at
10.8 V (quoted from memory), last 535 minutes of reading (HotHardware, review of the X200,
MobileMark 2007)."""


def experiments() -> list[Experiment]:
    """Return a read five times a second with the link awake, managed, and with one that hangs."""
    job = section("reads", rw="randread", bs="4k", iodepth=1, number_ios=500, thinktime="200ms")
    settings = {AWAKE: _NEVER, ASLEEP: (*_AFTER, *_NEVER), HANGS: _AFTER}
    return [Experiment(name, SSD, job, settings=each) for name, each in settings.items()]


def _power(results: Results, name: str) -> dict[str, float]:
    return dict(results.first(name, "reads").lab.get("power") or {})


def _watts(results: Results, name: str) -> float:
    return float(_power(results, name).get("average_mw") or 0.0) / 1e3


def rows(results: Results, disk: str) -> list[JudgedRow]:
    """Return what is compared; `disk` is an experiment on the hard disk."""
    told = results.first(disk, "random read").lab.get("parameters") or []
    idle = next((float(each["value"]) for each in told if each["key"] == "hdd.idle_w"), 0.0)
    awake, asleep = (_watts(results, name) for name in (AWAKE, ASLEEP))
    saved = idle - asleep
    minutes = 60 * LASTS_H * saved / (NOTEBOOK_W - saved)
    waits = [results.mean_us(name, "reads") / 1e3 for name in (AWAKE, ASLEEP)]
    resets = float(_power(results, HANGS).get("link_resets") or 0)
    low, high = (documents.figure("thomas-krenn", f"battery_{each}") for each in ("low", "high"))
    return [
        judging.shown(
            "power saved by an SSD with a managed link against a hard disk, both at rest",
            documents.figure("stapelberg", "power_saved"),
            f"{saved:.2f} W ({idle:.2f} W, {asleep:.2f} W)",
            reason="Rests on powers of the profiles, most of them assumed.",
        ),
        judging.shape(
            "that is 20 to 30 minutes of battery",
            documents.figure("thomas-krenn", "battery_low").document,
            low.place,
            f"{low} to {high}",
            f"{minutes:.0f} min of {BATTERY_WH:.0f} Wh at {NOTEBOOK_W:.1f} W",
            low.value <= minutes <= high.value,
            reason=(
                "On the Thinkpad X200 of Stapelberg's article, which says about half an hour. "
                "Asked first of an assumed notebook, 60 Wh at 10 W: 16 minutes."
            ),
        ),
        judging.shape(
            "managing the link saves power and makes each first access wait",
            ARTICLE,
            "conclusion",
            "on; it made this drive hang until the port was reset",
            f"{awake:.2f} to {asleep:.2f} W, {text.significant(waits[0], 2)} to "
            f"{text.significant(waits[1], 2)} ms; as that drive's link: "
            f"{resets:.0f} resets in 500 waits",
            asleep < awake and waits[1] > waits[0] and resets > 0,
        ),
    ]
