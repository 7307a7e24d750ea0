"""`ssdlab twin`: tables, solving, and the twin of a small simulated drive by its own figures."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import twins
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.twin import patterns
from ssdlab.study.twin.goals import Goal, Goals, read_goals
from ssdlab.study.twin.solve import OutOfReach, solved

pytestmark = pytest.mark.end_to_end

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Command = Callable[..., tuple[int, str, str]]
NEEDED = "fresh_mib_per_s,1000\nknee_drive_writes,0.13\nuniform,300\n"
PREDICTED = ("zipf-0.8", "never-rewritten 0.8", "two-zone 20/80")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("base.toml").write_text(twins.profile(twins.SMALL))


def read(lines: str, header: str = "figure,value,drive_writes,rate,use") -> Goals:
    Path("mine.csv").write_text(f"{header}\n{NEEDED}{lines}")
    return read_goals(Path("mine.csv"))


def test_figures_are_sorted_by_use() -> None:
    """The share nearest to 0.4, the strongest zipf, the lowest rates; the rest is predicted."""
    found = read(
        "never-rewritten 0.2,310\nnever-rewritten 0.5,290\nzipf-0.95,400\nzipf-1.0,450,9\n"
        "read_p50_us,60,,20000\nread_p50_us,56,,10000\nread_p99_us,315,,10000\nzipf-0.8,300\n"
    )
    assert found.policy is not None and found.policy.name == "never-rewritten 0.5"
    assert found.join is not None and (found.join.name, found.join.drive_writes) == ("zipf-1.0", 9)
    assert [(each.name, each.rate) for each in found.latencies] == [
        ("read_p50_us", 10_000),
        ("read_p99_us", 10_000),
    ]
    predicted = [each.label for each in found.predicted]
    assert predicted == [
        "never-rewritten 0.2",
        "zipf-0.95",
        "read_p50_us at 20,000 a second",
        "zipf-0.8",
    ]
    assert (found.value("fresh_mib_per_s"), found.value("read_iops")) == (1000, None)


def test_use_decides() -> None:
    """What is to be predicted is not fitted to, and the other way round."""
    found = read("zipf-1.0,450,,,predict\nnever-rewritten 0.4,300\nnever-rewritten 0.8,300,,,fit\n")
    assert found.join is None
    assert found.policy is not None and found.policy.name == "never-rewritten 0.8"
    assert [each.name for each in found.predicted] == ["zipf-1.0", "never-rewritten 0.4"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ("zipf-3,400", "mine.csv:5: figure zipf-3: there is none of that name"),
        ("two-zone 5.5/95,400", "mine.csv:5: figure two-zone 5.5/95"),
        ("never-rewritten 1,400", "mine.csv:5: figure never-rewritten 1"),
        ("never-rewritten 0.125,400", "mine.csv:5: figure never-rewritten 0.125"),
        ("zipf-0.8,-3", "mine.csv:5: value -3: must be a number above 0"),
        ("zipf-0.8,300,few", "mine.csv:5: drive_writes few"),
        ("zipf-0.8,300,,1000", "mine.csv:5: zipf-0.8: rate 1000"),
        ("read_p50_us,56", "mine.csv:5: read_p50_us: rate (empty)"),
        ("zipf-0.8,300,,,maybe", "mine.csv:5: use maybe: must be fit or predict"),
        ("two-zone 20/80,300,,,fit", "mine.csv:5: two-zone 20/80: the recipe has no use of it"),
        ("uniform,310", "mine.csv:5: uniform: stands at mine.csv:4 already"),
        ("zipf-0.8", "mine.csv:5: zipf-0.8: ends before its value"),
    ],
)
def test_wrong_lines_are_refused(lines: str, said: str) -> None:
    """With file, line and value."""
    with pytest.raises(SsdlabError, match="mine.csv") as error:
        read(lines)
    assert str(error.value).startswith(said)


@pytest.mark.parametrize("missing", ["fresh_mib_per_s", "knee_drive_writes", "uniform"])
def test_what_the_recipe_needs(missing: str) -> None:
    """Without one of three figures there is no recipe."""
    lines = [each for each in NEEDED.splitlines() if not each.startswith(missing)]
    Path("mine.csv").write_text("\n".join(["figure,value", *lines]))
    with pytest.raises(SsdlabError, match=f"mine.csv: no line of {missing}"):
        read_goals(Path("mine.csv"))


GOAL = Goal("uniform", 200.0, "mine.csv:4")


def test_a_time_is_solved_for() -> None:
    """1/rate = 1/400 + x/10000: at 200 x is 25, by no more than four runs."""
    asked: list[float] = []

    def rate(value: float) -> float:
        asked.append(value)
        return 1 / (1 / 400 + value / 10_000)

    value, reached = solved(GOAL, "x", rate, 0, 100)
    assert value == pytest.approx(25, rel=0.01)
    assert reached == pytest.approx(200, rel=0.002)
    assert len(asked) <= 4


@pytest.mark.parametrize(("fastest", "bound"), [(150.0, "at most"), (900.0, "at least")])
def test_out_of_reach(fastest: float, bound: str) -> None:
    """A goal above the fastest, or below the slowest, is refused with what would be reached."""
    with pytest.raises(OutOfReach, match="mine.csv:4: uniform 200: out of reach") as error:
        solved(GOAL, "x", lambda value: fastest - value, 0, 100)
    assert f"{fastest if bound == 'at most' else fastest - 100:g} MiB/s {bound}" in str(error.value)


def test_the_end_of_the_reach_is_in_reach() -> None:
    """Within a hundredth."""
    assert solved(GOAL, "x", lambda value: 199 - value, 0, 100) == (0, 199)


def test_the_twin_of_a_simulated_drive(command: Command) -> None:
    """Patterns that it was not fitted to are within 5 %; each number says what it comes from."""
    Path("hidden.toml").write_text(twins.profile(twins.HIDDEN))
    Path("mine.csv").write_text(twins.measured("hidden.toml", PREDICTED))
    asked = ("twin", "mine.csv", "--drive", "base.toml", "-o", "mine.toml")
    code, out, error = command(*asked, "--predict", "zipf-0.4", "--json")
    assert code == 0, error
    found = json.loads(out)
    figures = {each["figure"]: each for each in found["figures"]}
    for pattern in (*PREDICTED, patterns.UNIFORM):
        one = figures[pattern]
        assert one["twin"] == pytest.approx(one["measured"], rel=0.05), found
    assert {figures[each]["how"] for each in PREDICTED} == {"predicted"}
    assert found["predicted"]["zipf-0.4"] == pytest.approx(figures["uniform"]["twin"], rel=0.2)
    written = tomllib.loads(Path("mine.toml").read_text())
    assert written["ftl"]["gc"]["value"] == "cost-benefit"
    assert written["nand"]["program_us"]["value"] == pytest.approx(800, rel=0.02)
    assert "mine.csv:5" in written["nand"]["program_us"]["source"]
    assert written["nand"]["erase_us"]["kind"] == "assumed"
    assert twins.rate("mine.toml", "zipf-0.8") == pytest.approx(
        figures["zipf-0.8"]["measured"], rel=0.05
    )
    code, shown, _ = command(*asked)
    assert code == 0 and "cost-benefit" in shown and "predicted" in shown


def test_a_drive_out_of_reach_has_no_twin(command: Command) -> None:
    """Exit code 1, the figure's line, and no profile."""
    Path("mine.csv").write_text(f"figure,value\n{NEEDED.replace('1000', '9000')}")
    code, out, error = command("twin", "mine.csv", "--drive", "base.toml", "-o", "mine.toml")
    assert (code, out) == (1, "")
    assert "mine.csv:2: fresh_mib_per_s 9000: out of reach" in error
    assert not Path("mine.toml").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--drive", "base.toml", "-o", "mine.json"), "mine.json"),
        (("--drive", "none", "-o", "mine.toml"), "none"),
        (("--drive", "wd-velociraptor-300gb", "-o", "mine.toml"), "no flash"),
        (("--drive", "base.toml", "-o", "mine.toml", "--predict", "zipfy"), "--predict zipfy"),
    ],
)
def test_wrong_words(command: Command, words: tuple[str, ...], said: str) -> None:
    """Before anything is run."""
    Path("mine.csv").write_text(f"figure,value\n{NEEDED}")
    code, out, error = command("twin", "mine.csv", *words)
    assert (code, out) == (2, "") and said in error, error
