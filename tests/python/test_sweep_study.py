"""A study is read strictly, and its points are known by what shapes them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from ssdlab.ground.errors import SsdlabError
from ssdlab.study.sweeps.factors import Factor, FactorRange, Sample, combinations
from ssdlab.study.sweeps.plan import plan
from ssdlab.study.sweeps.point import points
from ssdlab.study.sweeps.strict import parse

BASE = """
[base]
drives = ["theory"]
job = "--rw=randwrite --bs=4k --number_ios=100"
settings.capacity_bytes = "16MiB"
settings.nand = { channels = 1, dies_per_channel = 1, pages_per_block = 32 }
"""
FACTORS = """
[factors]
over_provisioning = [0.15, 0.28]
ftl.gc = ["greedy", "fifo"]
"job.iodepth" = { from = 1, to = 16, steps = 3, scale = "log" }
"""


def found(text: str) -> list[dict[str, Any]]:
    """Give the factors of a study's points."""
    return [dict(point.factors) for point in points(parse(text))]


@pytest.mark.parametrize(
    ("text", "place", "remedy"),
    [
        ("[bse]", "study: bse", "did you mean base?"),
        ('[base]\ndrive = "theory"', "base.drive", "did you mean drives?"),
        ("[base]\n", "base.drives", 'drives = ["theory"]'),
        (BASE.replace("job =", "jobb ="), "base.jobb", "did you mean job?"),
        (BASE.replace("[base]", "[base]\njobs = []"), "base.job", "one of job and jobs"),
        (BASE + 'condition = "worn"', "base.condition", "fresh, filled, used, steady"),
        (BASE + "seeds = 0", "base.seeds", "how many"),
        (BASE + "[factors]\nover_provisioning = 0.1", "factors.over_provisioning", "list of lev"),
        (BASE + "[factors]\nx = { form = 1, to = 2 }", "factors.x.form", "did you mean from?"),
        (BASE + "[factors]\nx = { from = 2, to = 1, steps = 2 }", "factors.x", "from below to"),
        (BASE + "[factors]\nx = { from = 1, to = 2 }", "factors.x", "add steps"),
        (BASE + "[factors]\nx = [1, 1]", "factors.x", "twice"),
        (BASE + "[factors]\nx = [{ a = 1 }, { b = 1 }]", "factors.x", "set the same keys"),
        (BASE + '[sample]\nmethod = "sobl"\npoints = 4', "sample.method", "sobol, lhs"),
        ('constraints = [["ftl.gcc", "==", 1]]' + BASE + FACTORS, "ftl.gcc", "did you mean ftl.gc"),
        ('constraints = [["ftl.gc", "=", 1]]' + BASE + FACTORS, "constraints", "no comparison"),
    ],
)
def test_a_slip_is_refused_with_its_place_and_remedy(text: str, place: str, remedy: str) -> None:
    """Before anything runs."""
    with pytest.raises(SsdlabError) as error:
        parse(text)
    assert place in str(error.value) and remedy in str(error.value)


@pytest.mark.parametrize(
    ("factor", "told"),
    [
        (
            "over_provisionin = [0.1, 0.2]",
            'no parameter "over_provisionin"; did you mean over_prov',
        ),
        (
            'ftl.gc = ["fifo"]\nlink.mbps = [1]',
            "factors.link.mbps: 1: --set link.mbps=1: there is no",
        ),
        ('"ftl.gc" = ["greedy", "gready"]', 'factors.ftl.gc: gready: --set ftl.gc="gready"'),
        ('"job.iodeth" = [1, 2]', "--iodeth=1: fio has no such option\n  did you mean --iodepth?"),
        ('"job.write_iolog" = ["a.log"]', "all points would write the same file"),
        ('"layer.raid.disks" = [3, 4]', "one layer 'raid' is wanted, 0 are in base.layers"),
    ],
)
def test_the_engine_refuses_a_level_before_the_first_run(factor: str, told: str) -> None:
    """A typo in one level of many is found, and named with its factor."""
    with pytest.raises(SsdlabError) as error:
        plan(parse(BASE + "[factors]\n" + factor))
    assert told in str(error.value)


def test_a_level_that_some_points_cannot_have_is_theirs_to_tell() -> None:
    """What is wrong only beside another level is a row with its error, not the study's end."""
    factors = "[factors]\nover_provisioning = [0.02, 0.28]\n'nand.pages_per_block' = [16, 256]"
    planned = plan(parse(BASE.replace(", pages_per_block = 32", "") + factors))
    assert planned.count == 4


def test_grid_constraints_and_seeds() -> None:
    """Every combination but those that a constraint forbids, each with each seed."""
    either = '[["ftl.gc", "!=", "fifo"], ["job.iodepth", "<=", 4]]'
    text = f'constraints = [{either}, ["over_provisioning", "<", 0.2]]' + BASE + "seeds = 3"
    given = [(each["ftl.gc"], each["job.iodepth"]) for each in found(text + FACTORS)]
    wanted = [("greedy", 1), ("greedy", 4), ("greedy", 16), ("fifo", 1), ("fifo", 4)]
    assert given == [pair for pair in wanted for _ in range(3)]


def test_a_level_sets_several_keys() -> None:
    """A table of keys is one level, and each of its keys a column."""
    levels = '[{ "nand.channels" = 1, "link.mb_per_s" = 500 }, '
    levels += '{ "nand.channels" = 2, "link.mb_per_s" = 900 }]'
    text = BASE + f"[factors]\nsize = {levels}\n"
    assert found(text) == [
        {"nand.channels": 1, "link.mb_per_s": 500},
        {"nand.channels": 2, "link.mb_per_s": 900},
    ]
    settings = [dict(point.request.settings) for point in points(parse(text))]
    assert [each["nand.channels"] for each in settings] == ["1", "2"]


@pytest.mark.parametrize("method", ["sobol", "lhs"])
def test_a_sample_covers_its_ranges_evenly(method: str) -> None:
    """Each half of each range has half of the points; each point meets each level of a list."""
    factors = [
        Factor("a", span=FactorRange(0.0, 1.0, False, False)),
        Factor("b", span=FactorRange(1.0, 100.0, False, True)),
        Factor("c", ({"c": "x"}, {"c": "y"})),
    ]
    drawn = list(combinations(factors, Sample(method, 16)))
    assert len(drawn) == 32
    assert sum(each["a"] < 0.5 for each in drawn) == 16
    assert sum(each["b"] < 10 for each in drawn) == 16
    assert drawn == list(combinations(factors, Sample(method, 16)))
    assert drawn != list(combinations(factors, Sample(method, 16, seed=2)))


def test_layers_and_conditions_can_be_factors() -> None:
    """An option of a layer, the layers as a whole, and the condition."""
    text = BASE + 'layers = ["raid:level=5,disks=4"]\n[factors]\n'
    text += '"layer.raid.disks" = [3, 5]\ncondition = ["fresh", "filled"]\n'
    made = [(each.request.layers, each.request.condition) for each in points(parse(text))]
    assert made == [
        ((f"raid:level=5,disks={disks}",), condition)
        for disks in (3, 5)
        for condition in ("fresh", "filled")
    ]


def test_a_key_hangs_on_all_that_shapes_a_point_and_on_nothing_else(tmp_path: Path) -> None:
    """The request, the engine, and what is in its files; not where its drive comes from."""
    trace = tmp_path / "a.log"
    trace.write_text("fio version 2 iolog\n")
    text = BASE.replace("--bs=4k", f"--read_iolog={trace}")
    (point,) = points(parse(text))
    (again,) = points(parse(text))
    assert point.key == again.key
    assert (
        dataclasses.replace(point, request=dataclasses.replace(point.request, cache=False)).key
        == point.key
    )
    for change in ({"seed": 2}, {"condition": "used"}, {"settings": ()}, {"layout": False}):
        changed = dataclasses.replace(point.request, **change)
        assert dataclasses.replace(point, request=changed).key != point.key
    trace.write_text("fio version 2 iolog\n# and more\n")
    assert next(points(parse(text))).key != point.key


def test_another_engine_makes_other_points(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every change of the engine may change a result."""
    key = next(points(parse(BASE))).key
    monkeypatch.setattr("ssdlab.study.sweeps.point.engine_hash", lambda: "another build")
    assert next(points(parse(BASE))).key != key
