"""`ssdlab explain`: the words, the page, and the page in a browser."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import browser
from ssdlab.study.explain import recorded
from ssdlab.study.explain.page import build_html
from ssdlab.study.explain.words import CHAPTERS

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]


def embedded(html: str) -> Any:
    """Return what the page's script reads."""
    found = re.search(r'<script type="application/json" id="record">(.*?)</script>', html, re.S)
    assert found is not None
    return json.loads(found[1])


def texts(told: dict[str, Any], chapter: str) -> list[str]:
    return [step["text"] for step in told["steps"] if step["chapter"] == chapter]


def test_page_shows_what_json_says(command: Command, tmp_path: Path) -> None:
    """The page holds the very steps that --json prints, and each step's text once more as text."""
    code, out, _ = command("explain", "--json")
    assert code == 0
    told = json.loads(out)
    assert command("explain", "-o", "page.html") == (0, "", "written: page.html\n")
    html = (tmp_path / "page.html").read_text()
    assert embedded(html) == told
    assert html.count("<li>") >= len(told["steps"])
    assert [chapter["name"] for chapter in told["chapters"]] == list(CHAPTERS)


def test_the_page_needs_no_drawing_library() -> None:
    """The drawing library takes longer to load than the page takes to make."""
    asked = "import sys, ssdlab.study.explain.page; print('matplotlib' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True)
    assert told.stdout == "False\n"


def test_page_stands_alone() -> None:
    """Nothing is loaded, there is one slider, and it goes to the last step."""
    told = recorded()
    html = build_html(told, "0")
    assert not re.search(r"\b(?:src|href)=|url\(|@import|https?://", html)
    assert re.findall(r'<input type="range"[^>]* max="(\d+)"', html) == [
        str(len(told["steps"]) - 1)
    ]


def test_words_follow_the_record() -> None:
    """By hand: where units go on an empty drive of eight pages a block, and what sector 63 does."""
    told = recorded()
    assert texts(told, "write")[1] == "The host writes unit 0. Unit 0 goes to page 0 of block 0."
    assert texts(told, "overwrite")[0] == (
        "The host writes unit 2. Unit 2 goes to page 0 of block 8; page 2 of block 0 becomes "
        "invalid."
    )
    assert texts(told, "misaligned")[1] == (
        "The host writes 8 sectors from sector 63: a part of unit 7 and a part of unit 8. "
        "The drive reads 2 units first, because the write covers only a part of each."
    )
    assert texts(told, "misaligned")[-1].endswith(
        "For the 4096 B of this write the drive has programmed 2 pages, 8192 B."
    )
    assert texts(told, "trim")[0] == (
        "The host trims units 32 to 47. The map forgets 16 units, and as many pages become "
        "invalid. Nothing is programmed or erased."
    )
    leveling = [text for text in texts(told, "wear") if "Static wear levelling chooses" in text]
    assert len(leveling) == 1


def test_trim_that_is_ignored_changes_nothing() -> None:
    """A drive without TRIM says so, and its map keeps what the host trimmed."""
    told = recorded((("ftl.trim", "false"),))
    assert texts(told, "trim")[0].endswith("Nothing changes in flash.")
    step = next(step for step in told["steps"] if step["chapter"] == "trim")
    assert None not in step["map"]


def test_settings_reach_the_drive(command: Command) -> None:
    """The drive is the one that was asked for, and its chapter names the policy."""
    _, out, _ = command(
        "explain", "--json", "--set", "nand.blocks_per_plane=16", "--set", "ftl.gc=fifo"
    )
    told = json.loads(out)
    assert len(told["steps"][0]["blocks"]) == 16
    assert "policy: fifo" in next(
        chapter["about"] for chapter in told["chapters"] if chapter["name"] == "collection"
    )


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("nand.blocks_per_plane=1000", "makes 8000 pages, and 512 can be drawn"),
        ("capacity_bytes=1GiB", "follows from nand.blocks_per_plane"),
        ("over_provisioning=0.01", "leaves 0 spare blocks"),
        ("ftl.gc=best", 'ftl.gc="best": expected one of "greedy"'),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    command: Command, tmp_path: Path, setting: str, expected: str
) -> None:
    """The setting, its value and the remedy are named, and no page is left behind."""
    code, out, err = command("explain", "--set", setting, "-o", "page.html")
    assert (code, out) == (2, "")
    assert expected in err
    assert not list(tmp_path.iterdir())


@pytest.mark.skipif(browser.found() is None, reason="no Chromium: scripts/install-tools.sh")
@pytest.mark.parametrize("width", [1280, 390])
def test_page_in_a_browser(tmp_path: Path, width: int) -> None:
    """The slider, the keys and the chapters move the picture; the console stays empty."""
    told = recorded()
    page = tmp_path / "page.html"
    page.write_text(build_html(told, "0"), encoding="utf-8")
    with closing(browser.Browser(page, tmp_path / "profile", width)) as window:

        def shown() -> tuple[str, str, int]:
            number = window.value("document.getElementById('slider').value")
            text = window.value("document.getElementById('text').textContent")
            valid = window.value("document.querySelectorAll('#blocks .page.valid').length")
            return number, text, valid

        def expected(number: int) -> tuple[str, str, int]:
            step = told["steps"][number]
            valid = sum(sum(block["valid"]) for block in step["blocks"])
            return str(number), step["text"], valid

        last = len(told["steps"]) - 1
        assert shown() == expected(0)
        window.press("ArrowRight")
        assert shown() == expected(1)
        window.press("End")
        assert shown() == expected(last)
        window.press("ArrowLeft")
        assert shown() == expected(last - 1)
        window.value("document.getElementById('slider').focus()")
        window.press("ArrowRight")
        assert shown() == expected(last), "the slider's own keys move one step, not two"
        window.value(
            "slider.value = 7; slider.dispatchEvent(new Event('input'));"
            "document.activeElement.blur()"
        )
        assert shown() == expected(7)
        first = next(each["first"] for each in told["chapters"] if each["name"] == "trim")
        window.value(f"document.querySelector('[data-step=\"{first}\"]').click()")
        assert shown() == expected(first)
        current = "document.querySelectorAll('[aria-current=true]').length"
        assert window.value(current) == 1, "one chapter is marked, also for a screen reader"
        for wanted in (*range(last + 1), "1.5", "-1", "x", 1e9):
            window.value(f"location.hash = '#{wanted}'")
            window.value("dispatchEvent(new HashChangeEvent('hashchange'))")
        assert shown() == expected(last)
        assert window.value("document.documentElement.scrollWidth") <= width, "nothing sticks out"
        assert window.complaints == []
