"""`ssdlab health` as monitors use it: history, baselines and formats."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.health.history import Reading, WearOut, read_history, wear_out, write_history
from test_health import SMART, drive, nvme

Command = Callable[..., tuple[int, str, str]]
DAY = 86_400.0


def saved(place: Path, content: object) -> str:
    place.write_text(json.dumps(content), encoding="utf-8")
    return str(place)


def crucial(used: int, errors: int = 0) -> dict[str, Any]:
    return drive("CT500MX500SSD1", a202=(100 - used, used), a187=(100, errors))


def readings(per_day: float, days: int, start: float = 0.0) -> list[Reading]:
    """Make daily readings in whole percent, as drives tell them."""
    return [Reading("x", day * DAY, float(int(start + per_day * day)), None) for day in range(days)]


def end_of(points: list[Reading]) -> WearOut:
    end = wear_out(points)
    assert end is not None
    return end


@pytest.mark.parametrize("per_day", [0.05, 0.2, 1.0])
def test_wear_out_date(per_day: float) -> None:
    """A drive that wears evenly ends within its interval, which a longer history narrows."""
    days = int(40 / per_day)
    end, early = end_of(readings(per_day, days)), end_of(readings(per_day, days // 4))
    truth = 100 / per_day * DAY
    assert end.latest_s is not None
    assert end.earliest_s < truth < end.latest_s
    assert end.time_s == pytest.approx(truth, rel=0.03)
    assert end.percent_per_year == pytest.approx(per_day * 365.25, rel=0.05)
    assert early.latest_s is None or (
        early.latest_s - early.earliest_s > end.latest_s - end.earliest_s
    )


def test_interval_holds_the_truth_as_often_as_it_says() -> None:
    """Of 400 noisy histories about 95 % have the true date inside their interval."""
    stream = random.Random(7)
    inside = 0
    for _ in range(400):
        points = [
            Reading("x", day * DAY, 0.5 * day + stream.gauss(0, 1), None) for day in range(0, 60, 3)
        ]
        end = end_of(points)
        inside += end.latest_s is not None and end.earliest_s < 200 * DAY < end.latest_s
    # Binomial: 380 expected, standard deviation 4.4; four of them either way.
    assert 362 <= inside <= 398


def test_no_date_without_wear() -> None:
    """Too few readings, one time only, or no growth give no date; slow growth may be never."""
    assert wear_out(readings(1, 2)) is None
    assert wear_out(readings(0, 50)) is None
    assert wear_out([Reading("x", 5.0, float(used), None) for used in range(9)]) is None
    assert end_of(readings(0.02, 60)).latest_s is None


def test_history_through_the_command(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Daily calls make a history, and the table and JSON tell the date."""
    for day in range(30):
        monkeypatch.setattr("time.time", lambda day=day: day * DAY)
        file = saved(tmp_path / "d.json", crucial(day))
        code, out, _ = command("health", "--from", file, "--history", "h.jsonl", "--json")
        assert code == 0
    end = json.loads(out)[0]["wear_out"]
    assert end["readings"] == 30
    # 1 % a day from day 0: 100 % on day 100, 11 April 1970.
    assert end["earliest"] <= "1970-04-11" <= end["latest"]
    _, out, _ = command("health", "--from", file, "--history", "h.jsonl")
    assert "1970-04-1" in out


def test_a_vanished_drive_is_a_finding(command: Command, tmp_path: Path) -> None:
    """A drive of the history that does not answer any more is critical, by its name."""
    first = saved(tmp_path / "a.json", crucial(3))
    second = saved(tmp_path / "b.json", nvme(percentage_used=1))
    assert command("health", "--from", first, "--from", second, "--history", "h")[0] == 0
    code, out, _ = command("health", "--from", first, "--history", "h", "--format", "nagios")
    assert code == 2
    assert out.startswith("CRITICAL - NVMe X: the drive was there before and is not now")


def test_a_history_cut_in_the_middle(command: Command, tmp_path: Path) -> None:
    """A file cut at any byte gives its whole lines; one with rubbish in it is left as it is."""
    place = tmp_path / "h.jsonl"
    write_history(place, readings(1, 20))
    whole = place.read_bytes()
    for cut in range(0, len(whole), 7):
        place.write_bytes(whole[:cut])
        kept = read_history(place)
        assert whole[:cut].count(b"\n") <= len(kept) <= whole[:cut].count(b"\n") + 1
    for rubbish in (b"[" * 100_000, b"\xff\xfe", b'{"drive": 1}', b'{"drive":"x","time_s":1e999}'):
        place.write_bytes(whole + rubbish + b"\n" + whole)
        with pytest.raises(SsdlabError, match="line 21 is no reading"):
            read_history(place)


def test_absurd_history() -> None:
    """Absurd times and percentages end in a date, an open end or none, never in an exception."""
    stream = random.Random(3)
    for _ in range(300):
        points = [
            Reading("x", stream.choice([-1e29, 0.0, 1.0, 1e29, stream.random() * 1e9]), used, None)
            for used in (stream.choice([0.0, 1e29, -1e29, 50.0]) for _ in range(5))
        ]
        wear_out(points)


def test_history_keeps_a_bound(tmp_path: Path) -> None:
    """Of a drive the latest 400 readings are kept, and a file is whole or as before."""
    place = tmp_path / "h.jsonl"
    write_history(place, readings(0.01, 1000))
    kept = read_history(place)
    assert len(kept) == 400
    assert kept[-1].time_s == 999 * DAY
    assert os.listdir(tmp_path) == ["h.jsonl"]


def test_baseline(command: Command, tmp_path: Path) -> None:
    """A known count is quiet, a grown one warns, and can be acknowledged anew."""
    file = saved(tmp_path / "d.json", crucial(3, errors=3))
    options = ("health", "--from", file, "--baseline", "known.json")
    assert command("health", "--from", file)[0] == 1
    command(*options, "--acknowledge")
    code, out, _ = command(*options)
    assert code == 0
    assert "Reported_Uncorrect: 3, known" in out
    saved(tmp_path / "d.json", crucial(3, errors=4))
    code, out, _ = command(*options)
    assert code == 1
    assert "grown from 3 to 4" in out
    command(*options, "--acknowledge")
    assert command(*options)[0] == 0
    saved(tmp_path / "d.json", crucial(3, errors=40))
    assert command(*options)[0] == 3


def test_baseline_is_checked(command: Command, tmp_path: Path) -> None:
    """A baseline that is none, or has no place, is refused with its name."""
    file = saved(tmp_path / "d.json", crucial(3))
    for rubbish in ("[1]", '{"x": 3}', '{"x": {"y": "z"}}', "{", "[" * 100_000):
        (tmp_path / "known.json").write_text(rubbish, encoding="utf-8")
        code, _, err = command("health", "--from", file, "--baseline", "known.json")
        assert code == 2
        assert "--baseline known.json" in err
    code, _, err = command("health", "--from", file, "--acknowledge")
    assert code == 2
    assert "--baseline FILE" in err


def test_overrides_through_the_command(command: Command, tmp_path: Path) -> None:
    """--meanings gives life to a model that nobody knows."""
    file = saved(tmp_path / "d.json", drive("NEW 1", a202=(60, 0)))
    own = '[[drive]]\nfamily = "ours"\nmodels = ["NEW.*"]\n[[drive.attribute]]\nid = 202\n'
    (tmp_path / "own.toml").write_text(own + 'means = "life left"\n', encoding="utf-8")
    assert command("health", "--from", file)[0] == 4
    code, out, _ = command("health", "--from", file, "--meanings", "own.toml")
    assert code == 0
    assert "40 %" in out


@pytest.mark.parametrize(
    ("name", "code", "line"),
    [
        (
            "seagate-ironwolf-110",
            0,
            "OK - 1 drive: 4 look right, 0 look wrong, 1 not looked at, at most 7 % of life used",
        ),
        ("indilinx-vertex-outlived", 1, "WARNING - sda: two figures of its life disagree"),
        ("nvme-wd-red-outlived", 2, "CRITICAL - nvme0: 111 % of the rated life is used"),
        (
            "jmicron-no-life",
            3,
            "UNKNOWN - sda: life used: not looked at, because its family (JMicron",
        ),
    ],
)
def test_nagios(command: Command, name: str, code: int, line: str) -> None:
    """One line, the state as exit code, performance data after the bar."""
    found, out, _ = command("health", "--from", str(SMART / f"{name}.json"), "--format", "nagios")
    assert found == code
    assert out.count("\n") == 1
    assert out.replace("/dev/", "").startswith(line)


def test_nagios_performance_data(command: Command) -> None:
    """Life, spare and bytes come with unit and limits."""
    file = str(SMART / "nvme-wd-red-outlived.json")
    _, out, _ = command("health", "--from", file, "--format", "nagios")
    assert out.split(" | ")[1].split() == [
        "'X_life_used'=111%;85;95;0",
        "'X_spare_left'=100%;16:;11:;0;100",
        f"'X_host_written'={1902011793 * 512_000}B;;;0",
        "'X_temperature'=43",
    ]


def test_an_error_is_unknown_to_a_monitor(command: Command, tmp_path: Path) -> None:
    """What ends the command elsewhere with 2 is a line with UNKNOWN and 3 for a monitor."""
    (tmp_path / "cut.json").write_text('{"device": {', encoding="utf-8")
    for options in (
        ("--from", "missing.json"),
        ("--from", "cut.json"),
        ("--acknowledge",),
        ("--from", str(SMART / "nvme-cli.json"), "-o", "/no/such/folder/x"),
    ):
        code, out, err = command("health", *options, "--format", "nagios")
        assert (code, err) == (3, "")
        assert out.startswith("UNKNOWN - ")
        assert out.count("\n") == 1
        assert command("health", *options, "--format", "json")[0] == 2


def test_prometheus(command: Command, tmp_path: Path) -> None:
    """smartctl_exporter's names where it has them; the file appears in one step."""
    file = str(SMART / "wd-green-packed.json")
    code, out, _ = command("health", "--from", file, "--format", "prometheus", "-o", "ssd.prom")
    assert (code, out) == (0, "")
    text = (tmp_path / "ssd.prom").read_text(encoding="utf-8")
    drive = 'device="sda",interface="sat",model_name="WDC WDS240G2G0A-00JH30",serial_number="X"'
    drive += f',file="{file}"'
    assert f"smartctl_device_percentage_used{{{drive}}} 47\n" in text
    assert f"smartctl_device_bytes_written{{{drive}}} {27134 << 30}\n" in text
    assert f"ssdlab_device_severity{{{drive}}} 0\n" in text
    assert f'ssdlab_device_checks{{{drive},verdict="wrong"}} 0\n' in text
    for line in text.splitlines():
        assert line.startswith(("# HELP ", "# TYPE ", "smartctl_", "ssdlab_"))
    assert os.listdir(tmp_path) == ["ssd.prom"]


def test_prometheus_of_a_hostile_name(command: Command, tmp_path: Path) -> None:
    """A device's name cannot break out of its label."""
    content = crucial(1)
    content["device"]["name"] = 'a"} 1\nfake{x="\\'
    file = saved(tmp_path / "d.json", content)
    _, out, _ = command("health", "--from", file, "--format", "prometheus")
    assert "\nfake" not in out
    assert r'device="a\"} 1 fake{x=\"\\"' in out


def test_places_that_cannot_be_written(command: Command, tmp_path: Path) -> None:
    """Output, history and baseline name the place that refuses."""
    file = saved(tmp_path / "d.json", crucial(1, errors=1))
    for options in (
        ("--format", "json", "-o", "/no/such/folder/x"),
        ("--history", "/no/such/folder/x"),
        ("--history", str(tmp_path)),
        ("--baseline", "/no/such/folder/x", "--acknowledge"),
    ):
        code, _, err = command("health", "--from", file, *options)
        assert code == 2
        assert "/no/such/folder/x" in err or str(tmp_path) in err
