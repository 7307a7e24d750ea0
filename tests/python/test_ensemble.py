"""``ssdlab run --ensemble``: ranges, draws, what they say of a figure, and the command."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from ssdlab import engine
from ssdlab.experiment.comparison import Metric
from ssdlab.experiment.ensemble import model_error, ranges
from ssdlab.experiment.ensemble.draw import draws, layers, settings
from ssdlab.experiment.ensemble.ranges import Range
from ssdlab.experiment.ensemble.summary import summarise
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.text import ratio

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
KNOWN = ranges.known()
SSDS = [each["name"] for each in engine.profiles() if "nand.cell" in str(engine.show(each["name"]))]
SMALL = ("--drive", "intel-dc-s3500-80gb", "--set", "capacity_bytes=2GiB")
WRITES = ("--rw=randwrite", "--bs=4k", "--iodepth=8", "--norandommap", "--number_ios=4000")


@pytest.mark.parametrize(
    ("form", "limits", "place", "value", "expected"),
    [
        ("factors", (0.25, 1.0), 0.5, 80.0, "40"),
        ("factors", (0.25, 4.0), 0.5, [50.0, 75.5], "[50.0, 75.5]"),
        ("span", (0.0, 32.0), 0.25, "0", "8"),
        ("steps", (0.5, 1, 2), 0.99, 1536, "3072"),
        ("steps", (0.5, 1, 2), 0.0, "32 MiB", "16 MiB"),
        ("choices", ("none", 64, 32, 16), 0.3, "none", "64"),
        ("factors", (0.5, 2.0), 0.5, "none", None),
    ],
)
def test_a_place_in_a_range(
    form: str, limits: tuple[object, ...], place: float, value: object, expected: str | None
) -> None:
    """By hand: between the ends evenly, or in the logarithm; choices have equal parts."""
    assert Range("k", form, limits, "", "").at(place, value) == expected


STACKS: dict[str, tuple[str, tuple[str, ...]]] = {
    "hdd": ("fujitsu-mhz2250bh", ()),
    "raid": ("intel-dc-s3500-80gb", ("raid:level=5,disks=4,preset=controller",)),
    "crypt": ("intel-dc-s3500-80gb", ("crypt",)),
}
"""What has the numbers of a part; all others are an SSD's."""


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.key)
def test_a_range_is_that_of_a_parameter(known: Range) -> None:
    """The drive or layer has such a key; a reason is given; both ends can be set."""
    drive, stacked = STACKS.get(known.key.partition(".")[0], ("micron-7450-pro-960gb", ()))
    values = {each["key"]: each["value"] for each in engine.show(drive, (), stacked)["parameters"]}
    assert known.key in values
    assert len(known.reason) > 10
    together = [each for each in KNOWN if each.group == known.group]
    for place in (0.0, 0.999):
        draw = {each.key: place for each in together}
        set_to = settings(together, draw, values, stacked)
        drawn = layers(together, draw, values, stacked)
        shown = engine.show(drive, set_to, drawn)["parameters"]
        # A hard disk need not have a head switch, nor a full stroke.
        assert values[known.key] == "none" or known.key in {
            each["key"] for each in shown if each["kind"] == "set"
        }


def test_only_what_is_assumed_is_drawn() -> None:
    """Not what is fitted or published, and not what was set."""
    values = ranges.of_drive(engine.show("micron-7450-pro-960gb"), KNOWN)
    assert "nand.erase_us" in values
    assert not {"nand.read_us", "nand.channel_mb_per_s"} & set(values)
    shown = engine.show("micron-7450-pro-960gb", (("nand.erase_us", "4000"),))
    assert "nand.erase_us" not in ranges.of_drive(shown, KNOWN)


def test_a_smaller_drive_is_drawn_as_the_whole_one() -> None:
    """Spare that follows from the capacity is drawn with the whole drive's value, and arrives."""
    name, small = "intel-dc-s3500-80gb", (("capacity_bytes", "8GB"),)
    whole = ranges.of_drive(ranges.whole(name, ()), KNOWN)
    assert ranges.of_drive(ranges.whole(name, small), KNOWN) == whole
    assert {"over_provisioning", "reliability.factory_bad_share"} <= set(whole)
    given = (*small, ("over_provisioning", "0.3"))
    assert "over_provisioning" not in ranges.of_drive(ranges.whole(name, given), KNOWN)
    (spare,) = (each for each in KNOWN if each.key == "over_provisioning")

    def collected(place: float, *more: tuple[str, str]) -> int:
        drawn = settings([spare], {spare.key: place}, whole)
        return int(engine.show(name, (*more, *drawn))["wear"]["spare_blocks"])

    # Ends of the interval differ by as much, for a tenth, as those of the whole drive do.
    tenth, all_of_it = (collected(0.999, *more) - collected(0.0, *more) for more in (small, ()))
    assert tenth == pytest.approx(all_of_it / 10, rel=0.05)


@pytest.mark.parametrize("drive", [name for name in SSDS if name != "theory"])
def test_most_draws_are_drives(drive: str) -> None:
    """Of each profile; the others say what they are short of."""
    values = ranges.of_drive(engine.show(drive), KNOWN)
    works = 0
    for draw in draws(KNOWN, 16, 1):
        try:
            engine.show(drive, settings(KNOWN, draw, values))
            works += 1
        except SsdlabError as error:
            assert "over_provisioning" in str(error) or "nand." in str(error)  # noqa: PT017
    assert works >= 12


def test_draws_are_common_to_all_drives() -> None:
    """The same seed and number assume the same; another seed something else; ranges are covered."""
    assert draws(KNOWN, 8, 1) == draws(KNOWN, 8, 1) != draws(KNOWN, 8, 2)
    assert draws(KNOWN, 9, 1)[:8] == draws(KNOWN, 8, 1)
    for key in ("nand.erase_us", "ftl.gc"):
        eighths = sorted(int(draw[key] * 8) for draw in draws(KNOWN, 8, 1))
        assert eighths == list(range(8))


def test_a_figure_over_draws() -> None:
    """By hand: the median of 0 … 100 is 50; an assumption that rises with it correlates as 1."""
    metric: Metric[None] = Metric("k", "figure", lambda _: 0.0, ratio)
    drawn = [{"up": number / 101, "down": -number, "still": 0.5} for number in range(102)]
    figures = [None, *(float(number) for number in range(101))]
    figure = summarise("job", metric, 7.0, drawn, figures)
    assert (figure.low, figure.median, figure.high) == pytest.approx((5, 50, 95))
    assert figure.hangs_on() == pytest.approx({"up": 1.0, "down": -1.0})
    assert figure.draws == tuple(figures)


def test_the_models_own_error() -> None:
    """By hand: rates by 1.645 × 10.4 % a side; WA not below 1, nor where nothing is copied."""
    levels = (0.05, 0.5, 0.95)
    rate = model_error.interval("iops", [1000.0], levels)
    assert rate == pytest.approx([829, 1000, 1171], rel=0.005)
    assert model_error.interval("write_amplification", [1.0, 1.0], levels) == [1.0, 1.0, 1.0]
    # Copies of 0.05 are off by no more than themselves: 1.05 × (1 + 1.645 × 0.05 / 1.05).
    few = model_error.interval("write_amplification", [1.05], levels)
    assert few == pytest.approx([1.0, 1.05, 1.05 + 1.645 * 0.05], rel=0.001)
    latency = [float(each) for each in range(101)]
    assert model_error.interval("p99_ns", latency, levels) == pytest.approx([5, 50, 95])


def test_the_command_tells_point_and_interval(command: Command) -> None:
    """Every figure lies between its ends, and the numbers that were drawn have their reasons."""
    code, out, err = command(
        "run", *WRITES, *SMALL, "--state=steady", "--ensemble=8", "--output-format=json"
    )
    assert code == 0, err
    (drive,) = json.loads(out)["ensemble"]["drives"]
    assert drive["runs"] + len(drive["left_out"]) == 8
    assert all(each["reason"] for each in drive["assumptions"])
    by_key = {each["metric"]: each for each in drive["figures"]}
    assert {"iops", "write_amplification", "p99_ns"} <= set(by_key)
    for each in by_key.values():
        assert each["low"] <= each["median"] <= each["high"]
    assert by_key["write_amplification"]["low"] < by_key["write_amplification"]["high"]
    assert "assumed numbers" in err


def test_nothing_drawn_matters_where_the_link_decides(command: Command) -> None:
    """A sequential read of 128 KiB comes at the link's rate, whatever is assumed of collection."""
    flags = ("--rw=read", "--bs=128k", "--iodepth=32", "--size=256m", "--no-layout")
    code, out, _ = command("run", *flags, *SMALL, "--ensemble=8", "--output-format=json")
    assert code == 0
    (drive,) = json.loads(out)["ensemble"]["drives"]
    rate = next(each for each in drive["figures"] if each["metric"] == "bytes_per_second")
    assert rate["drawn_high"] == pytest.approx(rate["drawn_low"], rel=0.02)
    # What is left is the model's own error: 1.645 × 10.4 % a side.
    ends = (rate["low"] / rate["drawn_low"], rate["high"] / rate["drawn_high"])
    assert ends == pytest.approx((1 - 0.171, 1 + 0.171), rel=0.02)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--drive=theory", "--ensemble=8"), "theory assumes nothing that could be drawn"),
        ((*SMALL, "--ensemble=7"), "--ensemble 7: must be a whole number from 8 to 4096"),
        ((*SMALL, "--ensemble=8", "--seed=1-3"), "does not go with several seeds"),
        ((*SMALL, "--ensemble=8", "--save=x.ssd"), "does not go with --save"),
        ((*SMALL, "--ensemble=8", "--output-format=json+"), "an ensemble prints normal or json"),
    ],
)
def test_what_is_no_ensemble_is_refused(
    command: Command, flags: tuple[str, ...], said: str
) -> None:
    """With exit code 2, before anything runs."""
    code, out, err = command("run", *WRITES, *flags)
    assert (code, out) == (2, "")
    assert said in err
