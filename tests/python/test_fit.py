"""`ssdlab fit`: places, emulator, posterior, point, misfit, plan, and a small mystery drive."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from ssdlab import engine
from ssdlab.engine.request import Settings
from ssdlab.engine.result import Result
from ssdlab.engine.shown import sizes
from ssdlab.experiment.ensemble.ranges import Range
from ssdlab.ground.errors import SsdlabError
from ssdlab.study.fitting import forward
from ssdlab.study.fitting.emulator import Emulator, fit_emulator
from ssdlab.study.fitting.measurement import SPREAD, MeasuredLoad, Measurement, figure
from ssdlab.study.fitting.misfit import Unexplained, check_explained, misfit_of
from ssdlab.study.fitting.plan import PossibleMeasurement, rank
from ssdlab.study.fitting.point import point_of
from ssdlab.study.fitting.posterior import MODEL_ERROR, Likelihood, sample
from ssdlab.study.fitting.prediction import predict
from ssdlab.study.fitting.unknowns import FloatArray, Space, Unknown, space_of

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
BASE = "intel-dc-s3500-80gb"
LOAD = MeasuredLoad(("--rw=read",))


def line(key: str) -> Unknown:
    """Return an unknown from 0 to 1 whose base is in the middle."""
    return Unknown(key, (Range(key, "span", (0.0, 1.0), key, ""),), (0.5,))


def plane(count: int) -> Space:
    return Space("none", (), tuple(line(f"x{number}") for number in range(count)))


def emulator_of(
    space: Space, function: Callable[[FloatArray], FloatArray], count: int = 96, seed: int = 3
) -> Emulator:
    places = space.sobol(count, seed)
    return fit_emulator(space.features(places), function(places))


def likelihood(
    space: Space,
    functions: Sequence[Callable[[FloatArray], FloatArray]],
    truth: FloatArray,
    spread: float,
) -> Likelihood:
    emulators = [emulator_of(space, each) for each in functions]
    measured = np.array([float(each(truth[None, :])[0]) for each in functions])
    return Likelihood(space, emulators, measured, np.full(len(functions), spread))


def test_places_stand_for_values() -> None:
    """The base's places give the base's values; a group is one unknown; steps are told apart."""
    space = space_of(BASE)
    shown = {each["key"]: each["value"] for each in engine.show(BASE)["parameters"]}
    for key, value in space.settings(space.base):
        if isinstance(shown[key], int | float):
            assert float(value) == pytest.approx(float(shown[key])), key
        else:
            assert value == str(shown[key]), key
    (watermarks,) = (each for each in space.unknowns if each.name == "watermarks")
    assert [key for key, _ in watermarks.settings(0.9)] == [
        "ftl.gc_low_blocks",
        "ftl.gc_high_blocks",
    ]
    column = space.unknowns.index(watermarks)
    places = np.tile(space.base, (4, 1))
    places[:, column] = [0.0, 0.3, 0.4, 0.99]
    assert space.features(places)[:, column].tolist() == [0.0, 0.0, 0.5, 1.0]


def test_what_keeps_the_base_is_not_set() -> None:
    """Settings name only what differs from the profile on purpose."""
    space = space_of(BASE, (("capacity_bytes", "2GiB"),))
    but = [each.name != "nand.read_us" for each in space.unknowns]
    assert [key for key, _ in space.settings(space.base, but)] == ["capacity_bytes", "nand.read_us"]


def test_a_drive_without_enough_spare_does_not_work() -> None:
    """Of 1 GiB, a drive with blocks twice as large has too few: such places are no drives."""
    space = space_of(BASE, (("capacity_bytes", "1GiB"),))
    large = [each.name == "nand.pages_per_block" for each in space.unknowns]
    assert not space.works(np.where(large, 0.99, space.base))
    assert space_of(BASE).works(space_of(BASE).base)


def test_parity_takes_half_the_spare_at_most() -> None:
    """As in an ensemble: of a spare of 7.37 %, a page in 30, where the range goes down to 16."""
    found = space_of("intel-x25-m-g2-80gb").unknowns
    (stripe,) = (each for each in found if each.name == "ftl.parity_stripe_pages")
    assert stripe.show(0.999) == "30"


def test_a_small_drive_has_the_spare_of_a_large_one() -> None:
    """The capacity alone is set, and the engine says that the spare follows from it."""
    set_to = (("over_provisioning", "0.2"), ("ftl.parity_stripe_pages", "8"))
    load = MeasuredLoad(("--rw=randwrite",), "steady")
    asked = forward.request(space_of(BASE), load, set_to, 1)
    (capacity,) = set(asked.settings) - set(set_to)
    assert capacity[0] == "capacity_bytes" and int(capacity[1]) < 80e9 / 8
    shown = engine.show(BASE, asked.settings)["parameters"]
    (spare,) = (each for each in shown if each["key"] == "over_provisioning")
    assert float(spare["value"]) > 0.2 and spare["source"].startswith("follows from capacity_bytes")


@pytest.mark.parametrize(
    ("flags", "condition", "smaller"),
    [
        (("--rw=randwrite",), "steady", True),
        (("--rw=randwrite", "--size=80%"), "steady", True),
        (("--rw=randwrite",), None, False),
        (("--rw=randwrite", "--size=1g"), "steady", False),
        (("--rw=randwrite", "--offset=1g"), "used", False),
    ],
)
def test_which_drives_are_made_smaller(
    flags: tuple[str, ...], condition: str | None, smaller: bool
) -> None:
    """Those that are preconditioned, unless the job names places or amounts in bytes."""
    asked = forward.request(space_of(BASE), MeasuredLoad(flags, condition), (), 1)
    assert ("capacity_bytes" in dict(asked.settings)) == smaller


@pytest.mark.parametrize(
    ("flags", "span", "set_to", "exact"),
    [
        (("--rw=randwrite", "--norandommap", "--bs=4k"), 1.0, (), False),
        (("--rw=randrw", "--norandommap", "--rwmixread=50"), 1.0, (), False),
        (("--rw=randwrite", "--bs=4k"), 1.0, (), True),
        (("--rw=randwrite", "--norandommap", "--size=60%"), 0.6, (), True),
        (("--rw=randtrimwrite", "--norandommap"), 1.0, (), True),
        (("--rw=randwrite", "--norandommap"), 1.0, (("ftl.striping", "superblock"),), True),
    ],
)
def test_which_drives_stay_larger(
    flags: tuple[str, ...], span: float, set_to: Settings, exact: bool
) -> None:
    """Those that the engine's scale model brings into steady state; the others go the long way."""
    small = (*set_to, ("nand.pages_per_block", "64"))
    asked = forward.request(space_of(BASE), MeasuredLoad(flags, "steady", span=span), small, 1)
    assert asked.exact == exact
    found = sizes(engine.show(BASE, asked.settings))
    # The bytes are rounded down to MiB, and blocks that have to stay free come on top.
    most = 192 if exact else 768
    assert most - 8 <= found.flash.blocks_per_die <= most + 8


def test_an_emulator_of_a_known_function() -> None:
    """Within 0.02 of a function with a bend, a product and a step, whose spread is ten times that.

    Its own error is about the true one; a bend is where it is least honest.
    """

    def function(places: FloatArray) -> FloatArray:
        x, y, z = places.T[:3]
        return np.asarray(np.maximum(x, 0.4) + x * y + 0.3 * (z > 0.5))

    steps = Unknown("z", (Range("z", "choices", ("a", "b"), "z", ""),), ("a",))
    space = Space("none", (), (line("x"), line("y"), steps, line("u"), line("v"), line("w")))
    emulator = emulator_of(space, function)
    places = space.sobol(512, 9)
    mean, variance = emulator.predict(space.features(places))
    error = mean - function(places)
    assert float(np.std(error)) < 0.02 < float(np.std(function(places))) / 10
    assert 0.3 < float(np.sqrt(np.mean(error**2 / variance))) < 3.0
    assert emulator.lengths[3:].min() > 3 * emulator.lengths[0]


def test_an_emulator_tells_chance_from_what_matters() -> None:
    """Noise of 0.05 becomes the nugget."""
    space, chance = plane(3), np.random.default_rng(1)
    emulator = emulator_of(space, lambda x: x[:, 0] + chance.normal(0.0, 0.05, len(x)), 128)
    assert emulator.nugget * emulator.spread == pytest.approx(0.05, rel=0.3)


def test_a_run_that_gave_nothing_is_left_out() -> None:
    """NaN among the figures changes nothing but the number of runs."""
    space = plane(2)
    places = space.sobol(64, 1)
    logs = places[:, 0].copy()
    logs[::5] = math.nan
    mean, _ = fit_emulator(places, logs).predict(places)
    assert mean == pytest.approx(places[:, 0], abs=0.01)


def test_the_posterior_of_a_line() -> None:
    """Against the closed form: y = 2·x₀ + x₁, and x₁ alone, with Student-t errors of 4 degrees.

    A Student-t posterior of one observation has the density itself as its shape: its 90 % interval
    is ± 2.132 s wide (t table, 4 degrees of freedom), where s has the model's error added.
    """
    space = plane(3)
    truth = np.array([0.5, 0.5, 0.5])
    found = likelihood(space, [lambda x: 2 * x[:, 0], lambda x: x[:, 1]], truth, 0.04)
    places = sample(found, 5, 2048)
    scale = math.hypot(0.04, MODEL_ERROR)
    for column, factor in ((0, 2.0), (1, 1.0)):
        low, high = np.quantile(places[:, column], [0.05, 0.95])
        assert (low + high) / 2 == pytest.approx(0.5, abs=0.01)
        assert high - low == pytest.approx(2 * 2.132 * scale / factor, rel=0.1)
    assert np.quantile(places[:, 2], [0.05, 0.95]) == pytest.approx([0.05, 0.95], abs=0.04)


def test_a_posterior_with_two_modes() -> None:
    """(x − ½)² is the same on both sides, and both are found about alike."""
    space = plane(2)
    truth = np.array([0.8, 0.5])
    places = sample(likelihood(space, [lambda x: 4 * (x[:, 0] - 0.5) ** 2], truth, 0.02), 2)
    share = float(np.mean(places[:, 0] > 0.5))
    assert 0.35 < share < 0.65
    assert np.abs(np.abs(places[:, 0] - 0.5) - 0.3).max() < 0.25


def test_what_is_not_determined_keeps_the_base() -> None:
    """x₀ is measured, x₁ is not: x₀ goes to its truth, x₁ stays where the profile has it."""
    space, truth = plane(2), np.array([0.3, 0.9])
    found = likelihood(space, [lambda x: x[:, 0]], truth, 0.02)
    point = point_of(found, sample(found, 1), 1)
    first, second = point.estimates
    assert first.determined and first.place == pytest.approx(0.3, abs=0.03)
    assert first.low < 0.3 < first.high
    assert not second.fitted and second.place == 0.5


def test_a_combination_is_fitted_together() -> None:
    """Of x₀ + x₁ = 1.5 neither is determined, and the base's sum of 1 does not agree: both give."""
    space, truth = plane(3), np.array([0.75, 0.75, 0.1])
    found = likelihood(space, [lambda x: x[:, 0] + x[:, 1]], truth, 0.02)
    point = point_of(found, sample(found, 1), 1)
    assert point.places[:2].sum() == pytest.approx(1.5, abs=0.05)
    assert any(each.freed for each in point.estimates[:2])
    assert not point.estimates[2].fitted


def test_an_outlier_pulls_little_and_is_named() -> None:
    """Six measurements agree on x₀; a seventh, four times as large, moves it by less than 0.03."""
    space, truth = plane(2), np.array([0.4, 0.5])
    found = likelihood(space, [lambda x: x[:, 0]] * 7, truth, 0.02)
    found.measured[6] += math.log(4)
    places = sample(found, 1)
    assert float(places[:, 0].mean()) == pytest.approx(0.4, abs=0.03)
    judged = misfit_of(found.residuals(point_of(found, places, 1).best[None, :])[0])
    assert judged.outliers == (False,) * 6 + (True,)
    assert not judged.unexplained


def test_what_no_place_explains_is_said() -> None:
    """Two of five measurements that are six standard deviations away are no outliers."""
    judged = misfit_of(np.array([0.1, -0.2, 6.0, -6.0, 0.3]))
    assert judged.unexplained
    fitted = [Measurement(LOAD, "iops", 100, 0.02, f"m.csv:{row}") for row in range(2, 7)]
    with pytest.raises(Unexplained, match="m.csv:4: iops: .* measured 100, at best 80") as raised:
        check_explained(judged, fitted, np.full(5, 80.0), "base")
    assert "m.csv:2" not in str(raised.value)
    check_explained(misfit_of(np.array([1.0, -1.5, 0.3])), fitted, np.ones(5), "base")


def test_a_prediction_is_as_wide_as_its_drives_and_the_measurement() -> None:
    """By hand: normal scatter of the spread and the model's error about a single value."""
    measured = Measurement(LOAD, "iops", 100.0, 0.02, "")
    found = predict(measured, np.array([*[100.0] * 64, math.nan]), 1)
    assert found is not None and found.inside
    half = 1.645 * math.hypot(SPREAD, MODEL_ERROR)
    assert (found.low, found.high) == pytest.approx((100 * (1 - half), 100 * (1 + half)), rel=0.005)
    assert found.difference == pytest.approx(0.0, abs=0.002)
    far = predict(Measurement(LOAD, "iops", 110.0, 0.02, ""), np.full(64, 100.0), 1)
    assert far is not None and not far.inside
    assert predict(measured, np.array([math.nan]), 1) is None


def test_the_plan_prefers_what_is_not_known() -> None:
    """y₀ tells all of x₀: it is worth half the spread of two unknowns, and twice little more."""
    space = plane(2)
    first = emulator_of(space, lambda x: x[:, 0])
    second = emulator_of(space, lambda x: x[:, 1])
    candidates = [
        (PossibleMeasurement(MeasuredLoad(("--n=0",)), ("iops",)), [first]),
        (PossibleMeasurement(MeasuredLoad(("--n=1",)), ("iops",)), [second]),
    ]
    ranked = rank(space, candidates, [], 1)
    assert [each.explained for each in ranked] == pytest.approx([0.5, 0.5], abs=0.02)
    measured = Measurement(LOAD, "iops", 1.0, 0.02, "")
    after = rank(space, candidates, [(measured, first)], 1)
    assert after[0].candidate.load.flags == ("--n=1",)
    assert after[0].explained > 0.9 and after[1].explained < 0.05
    assert list(after[0].tells_of()) == ["x1"]


def measured_table(drive: dict[str, str], rows: Sequence[tuple[str, str, str]], seed: int) -> str:
    """Measure a simulated drive, with a noise of 2 %, as a table."""
    chance = np.random.default_rng(seed)
    lines = ["job,condition,metric,value,spread"]
    for flags, condition, metric in rows:
        load = MeasuredLoad(tuple(flags.split()), condition or None)
        result = engine.run(load.request(BASE, tuple(drive.items())))
        value = figure(Result.from_json(result).job(), metric)
        assert value is not None
        lines.append(f"{flags},{condition},{metric},{value * math.exp(chance.normal(0, 0.02))},")
    return "\n".join(lines) + "\n"


RANDOM = "--bs=4k --time_based --norandommap"
ROWS = [
    (f"--rw=randread --iodepth=1 --runtime=200ms {RANDOM}", "", "mean_us"),
    (f"--rw=randwrite --iodepth=1 --runtime=200ms {RANDOM}", "", "mean_us"),
    (f"--rw=randread --iodepth=4 --runtime=200ms {RANDOM}", "", "iops"),
    (f"--rw=randwrite --iodepth=32 --runtime=1 {RANDOM}", "steady", "iops"),
    (f"--rw=randwrite --iodepth=32 --runtime=1 {RANDOM}", "steady", "write_amplification"),
]
SMALL = {"capacity_bytes": "2GiB"}
MYSTERY = {
    "nand.read_us": "90",
    "over_provisioning": "0.2",
    "controller.write_command_us": "26",
    "nand.channel_mb_per_s": "230",
}


def test_a_mystery_drive(command: Command, tmp_path: Path) -> None:
    """Four numbers drawn, noise of 2 %, fitted blind: what was not measured comes within 10 %."""
    drawn = {**SMALL, **MYSTERY}
    (tmp_path / "m.csv").write_text(measured_table(drawn, ROWS, 1))
    words = ("--drive", BASE, "--set", "capacity_bytes=2GiB", "--draws", "16", "--hold-back", "0")
    code, out, err = command("fit", "m.csv", *words, "-o", "mine.toml")
    assert code == 0, err
    assert "nand.read_us" in out and "do not determine" in err
    load = MeasuredLoad(tuple(f"--rw=randread --iodepth=2 --runtime=200ms {RANDOM}".split()))
    mixed = MeasuredLoad(
        tuple(f"--rw=randwrite --iodepth=8 --runtime=1 {RANDOM}".split()), "steady"
    )
    for asked in (load, mixed):
        expected, found = (
            Result.from_json(engine.run(asked.request(drive, tuple(settings.items())))).job().iops()
            for drive, settings in ((BASE, drawn), (str(tmp_path / "mine.toml"), {}))
        )
        assert found == pytest.approx(expected, rel=0.1)


def test_a_profile_says_what_is_fitted(command: Command, tmp_path: Path) -> None:
    """It can be run; each number has the kind that it has, and what stays open says so."""
    (tmp_path / "m.csv").write_text(measured_table(SMALL, ROWS[:1], 2))
    words = ("--drive", BASE, "--set", "capacity_bytes=2GiB", "--draws", "16")
    code, out, _ = command("fit", "m.csv", *words, "-o", "mine.toml", "--json")
    told = json.loads(out)
    assert code == 0 and told["explained"] and told["unread"] == []
    states = {each["name"]: each["state"] for each in told["numbers"]}
    assert states["ftl.gc"] == "not determined" and "nand.read_us" in states
    assert [each["held_back"] for each in told["measurements"]] == [False]
    shown = {each["key"]: each for each in engine.show(str(tmp_path / "mine.toml"))["parameters"]}
    base = {each["key"]: each for each in engine.show(BASE)["parameters"]}
    assert shown["nand.cell"] == base["nand.cell"]
    fitted = [
        key for key, each in shown.items() if "1 measurement of m.csv, 90 %" in each["source"]
    ]
    assert {shown[key]["kind"] for key in fitted} <= {"fitted"}
    assert shown["ftl.gc"]["kind"] == "assumed"
    assert shown["ftl.gc"]["source"].startswith("not determined by 1 measurement of m.csv")
    assert shown["ftl.gc"]["value"] == base["ftl.gc"]["value"]


def test_a_drive_outside_the_ranges_is_refused(command: Command, tmp_path: Path) -> None:
    """Reads that take four times as long as any place explains: exit 1, named, and no profile."""
    drawn = {**SMALL, "nand.read_us": "400"}
    rows = [row for row in ROWS if "randread" in row[0]]
    rows.append((rows[0][0].replace("iodepth=1", "iodepth=2"), "", "iops"))
    (tmp_path / "m.csv").write_text(measured_table(drawn, rows, 3))
    words = ("--drive", BASE, "--set", "capacity_bytes=2GiB", "--draws", "16", "--hold-back", "0")
    code, out, err = command("fit", "m.csv", *words, "-o", "mine.toml", "--json")
    told = json.loads(out)
    assert code == 1 and not told["explained"] and "m.csv:2" in told["why"]
    assert "no drive of the ranges" in err and "m.csv:2" in err and "no profile was written" in err
    assert not (tmp_path / "mine.toml").exists()


def test_a_metric_that_no_run_gives_is_refused(command: Command, tmp_path: Path) -> None:
    """The write amplification of reads; the line is named."""
    (tmp_path / "m.csv").write_text(
        f"job,condition,metric,value\n{ROWS[0][0]},,write_amplification,2\n"
    )
    words = ("--drive", BASE, "--set", "capacity_bytes=2GiB", "--draws", "16")
    code, _, err = command("fit", "m.csv", *words, "-o", "mine.toml")
    assert code == 2
    assert "m.csv:2: write_amplification: the simulator gives no such figure" in err
    assert not (tmp_path / "mine.toml").exists()


def test_a_stopped_wave_gives_nothing() -> None:
    """Runs that were stopped are no figures."""
    from ssdlab.ground.errors import Stopped
    from ssdlab.study.fitting.waves import run_wave

    space, asked = space_of(BASE), [Measurement(LOAD, "iops", 1.0, 0.02, "")]
    stop = threading.Event()
    stop.set()
    with pytest.raises(Stopped):
        run_wave(space, space.sobol(2, 1), asked, "", 1, lambda names, tasks: [None] * len(tasks))


def test_no_unknowns_no_fit() -> None:
    """The drive of the formulas assumes nothing; a stack is no profile."""
    with pytest.raises(SsdlabError, match="assumes nothing that could be fitted"):
        space_of("theory")
