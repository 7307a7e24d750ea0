"""The three measured drives, made by their tables: `make test-long PART=twins`.

Their profiles were derived by hand, by the same recipe. Each twin has the profile's policy, its
reach, and its times within a tenth; what it predicts is printed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import pytest

from ssdlab import engine
from ssdlab.engine.shown import parameters
from ssdlab.referee.measured.rows import DRIVES

Command = Callable[..., tuple[int, str, str]]
FOLDER = Path(__file__).parents[2] / "target/twins"
ALIKE = {
    "over_provisioning": 1e-3,
    "nand.program_us": 0.01,
    "controller.read_command_us": 1e-3,
    "controller.write_latency_us": 0.1,
    "controller.latency_jitter_us": 0.1,
}
"""Numbers that figures tell of, one each, and how near the twin's are to the profile's."""

pytestmark = pytest.mark.skipif("SSDLAB_TWINS" not in os.environ, reason="a part of make test-long")


@pytest.mark.parametrize("drive", DRIVES)
def test_a_measured_drive(command: Command, drive: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """By its own table, from its own profile on; what was fitted to is met within a hundredth."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    monkeypatch.setenv("SSDLAB_CACHE", str(FOLDER))
    table = resources.files("ssdlab.data").joinpath(f"measured/twins/{drive}.csv")
    written = FOLDER / f"{drive}.toml"
    code, out, error = command("twin", str(table), "--drive", drive, "-o", str(written), "--json")
    assert code == 0, error
    found = json.loads(out)
    print(f"\n{drive}: {found['policies']}")
    for each in found["figures"]:
        off = each["twin"] / each["measured"] - 1
        print(
            f"{each['figure']}, {each['rate'] or ''}: {each['twin']:.4g} {off:+.1%} {each['how']}"
        )
    ours, theirs = (parameters(engine.show(name)) for name in (str(written), drive))
    print({key: (ours[key], theirs[key]) for key in ours if str(ours[key]) != str(theirs[key])})
    for key, near in ALIKE.items():
        assert float(ours[key]) == pytest.approx(float(theirs[key]), rel=near), key
    assert ours["ftl.gc"] == theirs["ftl.gc"]
    assert ours["buffer.join_bytes"] == theirs["buffer.join_bytes"]
    uniform = next(each for each in found["figures"] if each["figure"] == "uniform")
    assert uniform["twin"] == pytest.approx(uniform["measured"], rel=0.01)
