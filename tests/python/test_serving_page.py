"""The page of a served drive in a browser, second by second; and its figures for Prometheus."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import browser
import readable
from pretended import STATS, Pretended, served, until
from process import HANG_S
from ssdlab.live import live, metrics
from ssdlab.live.doors import Doors
from ssdlab.live.live import SECONDS, VIEWERS, Live, percentile, sample_of
from ssdlab.live.page import build_html, policy

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
NEEDS_BROWSER = pytest.mark.skipif(browser.found() is None, reason="no Chromium")


def later(**changes: dict[str, Any]) -> dict[str, Any]:
    """Return figures with some of them changed."""
    found: dict[str, Any] = json.loads(json.dumps(STATS))
    for part, figures in changes.items():
        found[part] |= figures
    return found


def history(seconds: int = SECONDS) -> dict[str, Any]:
    """Return what a busy drive would have shown."""
    samples = []
    for number in range(1, seconds + 1):
        busy = number % 40
        figures = {"writes": 2000 + 60 * busy, "bytes_written": 10**7 * busy, "trims": busy}
        counts = {"nand_bytes_written": 10**8, "nand_host_bytes_written": 10**8 - 10**6 * busy}
        now = later(requests=figures, counters=counts, blocks={"free": 60 - busy})
        now["latency"]["read"] |= {"count": 2000, "p99_ns": 10**5 * (1 + busy)}
        samples.append({"number": number, **sample_of(STATS, now, 1.0)})
    words = {"number": 1, "at_ns": 10**9, "text": "collection began: 4 % of blocks free"}
    return {"samples": samples, "events": [{**words, "sample": seconds - 30}]}


# What happened in a second, by hand.


def test_a_sample_is_what_happened_between_two_readings() -> None:
    """Rates are differences by the time that passed, WA is that of the second."""
    now = later(
        requests={"reads": 1500, "bytes_read": 8_096_000},
        counters={
            "nand_bytes_written": 20_480_000 + 300,
            "nand_host_bytes_written": 8_192_000 + 100,
        },
    )
    sample = sample_of(STATS, now, 2.0)
    assert sample["rates"]["reads"] == 250
    assert sample["rates"]["writes"] == 0
    assert sample["bytes"]["bytes_read"] == 2_000_000
    assert sample["write_amplification"] == 3.0
    assert (sample["free"], sample["low"], sample["collecting"]) == (0.04, 0.02, True)
    assert sample["latency"] == {}, "no request ended"
    assert sample_of(STATS, STATS, 1.0)["write_amplification"] is None


def test_latencies_are_those_of_the_second() -> None:
    """The mean from the sums, percentiles from the histogram where the drive tells one."""
    now = later(latency={"read": {"mean_ns": 150_000, "count": 2000, "p99_ns": 5, "p50_ns": 4}})
    told = sample_of(STATS, now, 1.0)["latency"]["read"]
    assert told == {"p50_ns": 4, "p99_ns": 5, "mean_ns": 200_000.0}
    before = later(latency={"read": {"count": 100, "buckets": [[10, 90], [20, 10]]}})
    now = later(latency={"read": {"count": 200, "buckets": [[10, 90], [20, 108], [80, 2]]}})
    told = sample_of(before, now, 1.0)["latency"]["read"]
    assert [told[key] for key in ("p50_ns", "p99_ns", "p99_9_ns")] == [20, 80, 80]


def test_percentiles_of_a_histogram() -> None:
    """The bound below which at least that share lies; of nothing, nothing."""
    buckets = [(10, 50), (20, 0), (30, 50)]
    assert [percentile(buckets, share) for share in (0.01, 0.5, 0.51, 1)] == [10, 10, 30, 30]
    assert percentile([], 0.5) == 0


@pytest.mark.parametrize("gone", [*STATS])
def test_what_the_drive_does_not_tell_is_left_out(
    gone: str, command: Command, tmp_path: Path
) -> None:
    """Any figure may be missing, or be nothing: sample, page, metrics and table do without."""
    for told in (
        {key: value for key, value in STATS.items() if key != gone},
        {**STATS, gone: None if isinstance(STATS[gone], dict) else STATS[gone]},
    ):
        sample = sample_of(told, told, 1.0)
        assert sample.keys() <= sample_of(STATS, STATS, 1.0).keys()
        assert build_html(told, {"samples": [sample], "events": []})
        assert metrics.exposition(told)
        drive = Pretended()
        drive.told = told
        with served(tmp_path / "a", drive):
            assert command("ctl", "a", "stats")[0] == 0


# Metrics.

_SAMPLE = re.compile(
    r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-z_]+="(?:[^"\\\n]|\\["\\n])*",?)*)\})? (\S+)'
)


def parsed(text: str) -> dict[str, tuple[str, dict[str, float]]]:
    """Read Prometheus's text format by its rules: by metric its type, and samples by name."""
    found: dict[str, tuple[str, dict[str, float]]] = {}
    assert text.endswith("\n") and not text.startswith("\n") and "\n\n" not in text
    helped = name = ""
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP "):
            helped = line.split(" ")[2]
            assert helped not in found, "once a metric"
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name == helped and kind in ("counter", "gauge", "summary")
            found[name] = (kind, {})
        else:
            match = _SAMPLE.fullmatch(line)
            assert match is not None, line
            suffix = match[1].removeprefix(name)
            assert suffix in (("", "_sum", "_count") if found[name][0] == "summary" else ("",))
            sample = f"{match[1]}{{{match[2]}}}" if match[2] else match[1]
            assert sample not in found[name][1], "a sample twice"
            found[name][1][sample] = float(match[3])
    return found


def test_metrics_are_prometheus_text() -> None:
    """Counters end in _total and only they do; base units; values as the drive tells them."""
    found = parsed(metrics.exposition(STATS))
    for name, (kind, samples) in found.items():
        assert name.startswith("ssdlab_")
        assert name.endswith("_total") == (kind == "counter"), name
        assert not re.search(r"_(ns|us|ms|kb|mb)(_|$)", name)
        assert samples, name
    assert found["ssdlab_host_reads_total"][1] == {"ssdlab_host_reads_total": 1000}
    assert found["ssdlab_die_move_seconds_total"][1]["ssdlab_die_move_seconds_total"] == 1.5
    assert found["ssdlab_requests_total"][1]['ssdlab_requests_total{operation="write"}'] == 2000
    latency = found["ssdlab_latency_seconds"][1]
    assert latency['ssdlab_latency_seconds{operation="read",quantile="0.99"}'] == pytest.approx(
        4e-4
    )
    assert latency['ssdlab_latency_seconds_sum{operation="read"}'] == pytest.approx(0.1)
    assert found["ssdlab_blocks_free"] == ("gauge", {"ssdlab_blocks_free": 40})
    assert found["ssdlab_power_on"][1] == {"ssdlab_power_on": 1}
    assert parsed(metrics.exposition({**STATS, "power": "off"}))["ssdlab_power_on"][1] == {
        "ssdlab_power_on": 0
    }


def test_names_that_need_escapes_are_escaped() -> None:
    """A folder may be called anything."""
    name = 'a"b\\c\nd'
    text = metrics.exposition({**STATS, "folder": name})
    info = next(iter(parsed(text)["ssdlab_drive_info"][1]))
    assert r'folder="a\"b\\c\nd"' in info


# The stream.


class Busy(Pretended):
    """Does something each time it is looked at."""

    def stats(self) -> dict[str, Any]:
        if self.told["power"] == "on":
            told = self.told
            told["requests"]["reads"] += 100
            told["requests"]["writes"] += 300
            told["counters"]["nand_host_bytes_written"] += 1000
            told["counters"]["nand_bytes_written"] += 2500
            told["latency"]["read"]["count"] += 100
            told["latency"]["write"]["count"] += 300
            number = len(told["events"]) + 1
            word = {
                "number": number,
                "at_ns": number * 10**9,
                "text": f"block {number} <b>failed</b>",
            }
            told["events"] = [*told["events"], word][-100:]
        return super().stats()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make seconds short."""
    kept = Live.__init__
    monkeypatch.setattr(Live, "__init__", lambda self, drive: kept(self, drive, 0.02))


def followed(made: Live, events: int) -> list[tuple[str, Any]]:
    """Look until so many events have come."""
    found: list[tuple[str, Any]] = []

    def take(piece: bytes) -> None:
        for block in piece.decode().split("\n\n"):
            match = re.fullmatch(r"event: (\w+)\ndata: (.*)", block)
            if match is not None:
                found.append((match[1], json.loads(match[2])))
        if len(found) >= events:
            raise BrokenPipeError

    follow = made.stream().content
    assert callable(follow)
    with pytest.raises(BrokenPipeError):
        follow(take)
    return found


def test_who_comes_later_sees_what_was(quick: None) -> None:
    """First all samples that are kept, then each once, in order, with the words of its second."""
    with closing(Live(Busy())) as made:
        made.start()
        until(lambda: len(made.history()["samples"]) >= 5)
        (kind, first), *rest = followed(made, 6)
    assert kind == "history" and len(first["samples"]) >= 5
    assert {kind for kind, _ in rest} == {"news"}
    told = [first, *(each for _, each in rest)]
    numbers = [sample["number"] for each in told for sample in each["samples"]]
    assert numbers == list(range(1, len(numbers) + 1))
    words = [word["number"] for each in told for word in each["events"]]
    assert words == sorted(set(words))
    assert all(word["sample"] in numbers for each in told for word in each["events"])


def test_memory_is_bounded(quick: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """As many samples as the page shows."""
    with closing(Live(Busy())) as made:
        made.start()
        until(lambda: made.history()["samples"][-1:] and made._number > SECONDS + 20)
        kept = made.history()
    assert len(kept["samples"]) == SECONDS
    assert len(kept["events"]) <= 100


def test_those_who_look_are_bounded(quick: None) -> None:
    """Who is one too many is told so; who leaves makes room."""
    with closing(Live(Busy())) as made:
        made.start()
        go = threading.Event()

        def look(_piece: bytes) -> None:
            go.wait(HANG_S)
            raise BrokenPipeError

        def follow() -> None:
            content = made.stream().content
            assert callable(content)
            with pytest.raises(BrokenPipeError):
                content(look)

        threads = [threading.Thread(target=follow) for _ in range(VIEWERS)]
        for each in threads:
            each.start()
        until(lambda: made.stream().status == 503)
        go.set()
        for each in threads:
            each.join()
        assert made.stream().status == 200


def test_a_drive_that_fails_to_tell_may_tell_again(quick: None) -> None:
    """A reading that fails is left out, and no thread ends of it."""

    class Moody(Busy):
        asked_for = 0

        def stats(self) -> dict[str, Any]:
            self.asked_for += 1
            if self.asked_for % 2:
                raise RuntimeError
            return super().stats()

    with closing(Live(Moody())) as made:
        made.start()
        until(lambda: len(made.history()["samples"]) >= 3)


# The page.


def test_the_policy_is_of_the_pages_own_script() -> None:
    """Nothing else runs: a hash for script and style, and no other place."""
    html = build_html({**STATS, "name": "<script>alert(1)</script>"}, history(2))
    assert "<script>alert" not in html
    found = policy(html)
    assert found.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in found and found.count("sha256-") == 2


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make seconds short, and leave the browser time between them."""
    kept = Live.__init__
    monkeypatch.setattr(Live, "__init__", lambda self, drive: kept(self, drive, 0.25))


@pytest.fixture
def page(unhurried: None) -> Iterator[tuple[str, Busy]]:
    drive = Busy()
    with closing(Doors(drive)) as doors:
        yield doors.open_web("0"), drive


@NEEDS_BROWSER
def test_the_page_lives(page: tuple[str, Busy], tmp_path: Path) -> None:
    """Figures come by themselves; every chart is drawn and readable at 390 and 1280 pixels."""
    url, _ = page
    with closing(browser.Browser(url, tmp_path, 1280)) as window:
        window.wait_for("document.querySelectorAll('#events li').length > 3")
        before = window.value("document.querySelector('#charts path.line').getAttribute('d')")
        # A line that is full does not get longer: it moves on.
        moved = f"getAttribute('d') !== {json.dumps(before)}"
        window.wait_for(f"document.querySelector('#charts path.line').{moved}")
        for width in (390, 1280):
            readable.at(window, width)
            assert readable.faults(window) == [], width
            assert len(readable.charts(window)) == 8
        text = window.value("document.body.innerText")
        assert "writes" in text and "Power is on" in text
        assert "block 3 <b>failed</b>" in text, "as text, not as markup"
        amplification = "[...document.querySelectorAll('figure')][4].innerText"
        assert "2.50" in window.value(amplification)
        shown = "document.querySelectorAll('#blocks .block.{}').length"
        states = ("free", "open", "open-for-moves", "collecting", "bad", "sealed")
        assert [window.value(shown.format(each)) for each in states] == [4, 1, 1, 1, 1, 92]
        assert "one of 10 is shown" in text
        assert window.complaints == []


@NEEDS_BROWSER
def test_power_goes_and_comes_by_buttons(page: tuple[str, Busy], tmp_path: Path) -> None:
    """With the token of the address; what was lost is told, and other buttons are off then."""
    url, drive = page
    with closing(browser.Browser(url, tmp_path)) as window:
        window.wait_for("!document.getElementById('power-cut').disabled")
        window.click(*window.middle("document.getElementById('power-cut')"))
        window.wait_for("document.body.innerText.includes('Power is off')")
        window.wait_for("document.getElementById('answer').innerText.includes('Seed 7: 2 sectors')")
        assert window.value("document.getElementById('power-cut').disabled")
        window.wait_for("!document.getElementById('power-on').disabled")
        window.click(*window.middle("document.getElementById('power-on')"))
        window.wait_for("document.body.innerText.includes('Power is on')")
        assert drive.asked == [("power_cut", None), ("power_on",)]
        assert window.complaints == []


@NEEDS_BROWSER
def test_without_the_token_there_are_no_buttons(page: tuple[str, Busy], tmp_path: Path) -> None:
    """One may look; and with a wrong one a button says so, and nothing happens."""
    url, drive = page
    address = url.partition("#")[0]
    with closing(browser.Browser(address, tmp_path / "a")) as window:
        window.wait_for("document.querySelectorAll('#charts path.line').length > 3")
        assert not window.value("document.getElementById('buttons').getClientRects().length")
        assert "with its token" in window.value("document.getElementById('answer').innerText")
        assert window.complaints == []
    with closing(browser.Browser(f"{address}#token=wrong", tmp_path / "b")) as window:
        window.wait_for("!document.getElementById('power-cut').disabled")
        window.click(*window.middle("document.getElementById('power-cut')"))
        window.wait_for("document.getElementById('answer').innerText.includes('missing or wrong')")
    assert drive.asked == []


@NEEDS_BROWSER
def test_the_page_says_when_the_server_is_gone(unhurried: None, tmp_path: Path) -> None:
    """And that nothing is asked any more."""
    with closing(Doors(Busy())) as doors:
        window = browser.Browser(doors.open_web("0"), tmp_path)
        with closing(window):
            window.wait_for("document.body.innerText.includes('Power is on')")
            doors.close()
            window.wait_for("document.body.innerText.includes('The server does not answer')")
            assert window.value("document.getElementById('power-cut').disabled")


# In lines.


def test_watch_prints_a_line_a_second(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What happened in it, and what the drive said; of several drives a line each."""
    monkeypatch.setattr("ssdlab.cli.ctl_watch.EVERY_S", 0.05)
    with served(tmp_path / "a", Busy()), served(tmp_path / "b", Busy()):
        code, out, err = command("ctl", "a", "watch", "--seconds", "3")
        assert (code, err) == (0, "")
        heading, *lines = out.splitlines()
        assert heading.split() == (
            "clock power reads/s writes/s MB/s p99 read p99 write WA free".split()
        )
        figures = [line for line in lines if not line.startswith("a: ")]
        assert len(figures) == 3
        assert all(line.split()[-3:] == ["2.50", "4.0", "%"] for line in figures)
        assert {len(line) for line in (heading, *figures)} == {len(heading)}
        assert len(heading) < 80
        assert "block 3 <b>failed</b>" in out
        _, out, _ = command("ctl", "a", "b", "watch", "--seconds", "2", "--json")
        told = [json.loads(line) for line in out.splitlines()]
    assert [each["folder"] for each in told] == ["a", "b", "a", "b"]
    assert all(each["write_amplification"] == 2.5 for each in told)


def test_watch_ends_when_its_reader_leaves(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It prints for as long as somebody reads, and no second longer."""
    monkeypatch.setattr("ssdlab.cli.ctl_watch.EVERY_S", 0.05)
    monkeypatch.setattr("ssdlab.cli.ctl_watch.reader_has_left", lambda: True)
    with served(tmp_path / "a", Busy()):
        code, out, err = command("ctl", "a", "watch")
    assert (code, err) == (0, "")
    assert len([line for line in out.splitlines()[1:] if not line.startswith("a: ")]) == 1


def test_watch_tells_when_the_server_ends(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no end in order."""
    monkeypatch.setattr("ssdlab.cli.ctl_watch.EVERY_S", 0.05)
    with served(tmp_path / "a", Busy()) as server:
        threading.Timer(0.3, server.close).start()
        code, _, err = command("ctl", "a", "watch")
    assert code == 2
    assert "start it again: ssdlab serve a" in err or "start it: ssdlab serve a" in err


@pytest.mark.parametrize("terminal", [False, True])
def test_watch_ends_at_ctrl_c(tmp_path: Path, terminal: bool) -> None:
    """At once, without a word; on a terminal too, where the cursor comes back."""
    seen = b""
    with served(tmp_path / "a", Busy()):
        ours, its = pty.openpty() if terminal else os.pipe()
        process = subprocess.Popen(
            [sys.executable, "-m", "ssdlab", "ctl", "a", "watch"],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            stdout=its,
            stderr=subprocess.PIPE,
            env={**os.environ, "TERM": "xterm"},
        )
        os.close(its)
        while b"2.50" not in seen:
            seen += os.read(ours, 4096)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=HANG_S)
        while piece := _rest(ours):
            seen += piece
        os.close(ours)
    assert (process.returncode, err) == (130, b"")
    assert (b"\x1b[?25h" in seen) is terminal


def _rest(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:
        return b""


def test_the_names_of_percentiles_are_those_of_the_figures() -> None:
    """The page, the sample and Prometheus speak of the same ones."""
    script = (Path(live.__file__).parent / "page" / "page.js").read_text("utf-8")
    assert set(re.findall(r"\?\.(p\w+_ns)", script)) == set(live.PERCENTILES)
