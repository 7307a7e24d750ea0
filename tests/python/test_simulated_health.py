"""Simulated drives told as smartctl would, read back, and aged to their end."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from ssdlab import engine
from ssdlab.engine.request import RunRequest
from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.health import Examination, examine, read_report
from ssdlab.machine.health.simulated import smart_json

pytestmark = pytest.mark.end_to_end

Command = Callable[..., tuple[int, str, str]]
SMALL = (
    ("capacity_bytes", "8MiB"),
    ("over_provisioning", "0.5"),
    ("nand.channels", "1"),
    ("nand.dies_per_channel", "1"),
    ("nand.pages_per_block", "16"),
    ("reliability.rated_cycles", "100"),
    ("buffer.bytes", "0"),
)
PROFILES = (
    "intel-dc-s3500-80gb",
    "intel-x25-m-g2-80gb",
    "samsung-870-qvo-1tb",
    "ocz-vertex-2-90gb",
    "super-talent-ultradrive-gx-256gb",
    "samsung-990-pro-1tb",
    "theory",
)


@cache
def _show(name: str) -> dict[str, Any]:
    # Small, since a map takes time to make; Samsung's caches need room.
    size = "400GB" if name.startswith("samsung") else "16GB"
    return engine.show(name, (("capacity_bytes", size),))


def worn(name: str, mean: float, **counters: int) -> dict[str, Any]:
    """Take a profile as shown and set wear and counters."""
    shown = deepcopy(_show(name))
    health = shown["health"]
    health["used_percent"] = int(100 * mean / health["rated_erases"])
    health["counters"].update(counters)
    return shown


def read_back(shown: dict[str, Any]) -> Examination:
    return examine(read_report(json.loads(json.dumps(smart_json(shown, "old.ssd"))), "x"))


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("share", [0.0, 0.123, 0.5, 0.999])
def test_life_is_read_back(name: str, share: float) -> None:
    """Each maker's attributes, read as that maker means them, give mean erases / rated cycles."""
    rated = _show(name)["wear"]["rated_cycles"]
    life = read_back(worn(name, share * rated)).life
    assert life and life.used_percent
    assert life.used_percent.number == int(100 * (share * rated) / rated)


def test_what_is_outlived() -> None:
    """NVMe goes on beyond 100 % up to 255; a value that counts down stops at 0."""
    for name, times, expected in (
        ("samsung-990-pro-1tb", 1.3, 130),
        ("samsung-990-pro-1tb", 9, 255),
        ("intel-dc-s3500-80gb", 1.3, 100),
    ):
        each = read_back(worn(name, times * _show(name)["wear"]["rated_cycles"]))
        assert each.life and each.life.used_percent
        assert each.life.used_percent.number == expected
        assert str(each.severity) == "CRITICAL"


@pytest.mark.parametrize(
    ("name", "unit"),
    [("intel-dc-s3500-80gb", 32 << 20), ("ocz-vertex-2-90gb", 1 << 30)],
)
def test_write_amplification_is_read_back(name: str, unit: int) -> None:
    """The write amplification of the counters comes back, but for whole units."""
    host = 10**12 + 12345
    flash = host * 234 // 100
    life = read_back(worn(name, 30, host_bytes_written=host, nand_bytes_written=flash)).life
    assert life and life.write_amplification and life.host_written_bytes
    # Both numbers are told in whole units, rounded down.
    assert life.write_amplification.number == pytest.approx(2.34, rel=2 * unit / host)
    assert life.host_written_bytes.number == pytest.approx(host, abs=unit)


def test_errors_and_spare_are_told() -> None:
    """Grown bad blocks, failures and what is left of the spare arrive as findings."""
    shown = worn("samsung-870-qvo-1tb", 10, program_failures=3)
    shown["health"].update(blocks_lost=25, spare_percent=7)
    said = [finding.what for finding in read_back(shown).findings]
    assert "Reallocated_Sector_Ct: 25" in said
    assert "Program_Fail_Cnt_Total: 3" in said
    assert "7 % of the spare blocks are left" in said
    shown = worn("samsung-990-pro-1tb", 10, uncorrectable_reads=2)
    shown["health"].update(spare_percent=0, read_only=True, critical_warning=13)
    said = [finding.what for finding in read_back(shown).findings]
    assert {"the drive reports failure", "media is read-only", "NVMe media errors: 2"} <= {*said}


def test_a_sata_drive_without_a_maker() -> None:
    """A profile of the user's own tells the standard device statistics, also beyond 100 %."""
    shown = worn("intel-dc-s3500-80gb", 1.2 * 3000, host_bytes_written=10**12)
    shown |= {"name": "mine", "title": "My drive"}
    life = read_back(shown).life
    assert life and life.used_percent and life.host_written_bytes and life.family is None
    assert life.used_percent.number == 120
    assert life.used_percent.rule.startswith("ATA device statistics")
    assert life.host_written_bytes.number == 10**12


def test_a_hard_disk_tells_no_wear() -> None:
    """What does not wear is refused by name."""
    with pytest.raises(SsdlabError, match="fujitsu-mhz2250bh: is not an SSD"):
        smart_json(engine.show("fujitsu-mhz2250bh"), "fujitsu-mhz2250bh")


def test_from_the_drive_file_to_the_monitor(command: Command, tmp_path: Path) -> None:
    """A drive file's counters pass through both commands as they stand in `show --json`."""
    settings = [word for key, value in SMALL for word in ("--set", f"{key}={value}")]
    assert (
        command("season", "samsung-990-pro-1tb", "--to", "used", "-o", "old.ssd", *settings)[0] == 0
    )
    _, shown, _ = command("show", "old.ssd", "--json")
    _, smart, _ = command("show", "old.ssd", "--smart-json")
    (tmp_path / "smart.json").write_text(smart, encoding="utf-8")
    _, out, _ = command("health", "--from", "smart.json", "--json")
    told, wear = json.loads(out)[0], json.loads(shown)["wear"]
    assert told["used_percent"]["number"] == int(wear["erase_counts"]["mean"])
    host = json.loads(shown)["counters"]["host_bytes_written"]
    assert told["host_written_bytes"]["number"] == -(-host // 512_000) * 512_000


def _age(step: int, before: str, place: Path) -> str:
    """Overwrite the drive at random by its capacity once, from drive file to drive file."""
    after = str(place / f"{step}.ssd")
    flags = ("--rw=randwrite", "--bs=4k", "--io_size=8MiB", f"--name=step{step}")
    fresh = step == 0
    engine.run(
        RunRequest(
            drive=before,
            settings=SMALL if fresh else (),
            flags=flags,
            seed=step + 1,
            save=after,
        )
    )
    return after


@pytest.mark.parametrize("profile", ["samsung-990-pro-1tb", "intel-x25-m-g2-80gb", "theory"])
def test_ageing(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, profile: str
) -> None:
    """A drive aged day by day: WARNING from 85 %, CRITICAL from 95 %, its end foretold."""
    drive, states, used, ends = profile, [], [], []
    for step in range(200):
        drive = _age(step, drive, tmp_path)
        _, smart, _ = command("show", drive, "--smart-json")
        (tmp_path / "smart.json").write_text(smart, encoding="utf-8")
        monkeypatch.setattr("time.time", lambda step=step: step * 86_400.0)
        code, out, _ = command("health", "--from", "smart.json", "--history", "h", "--json")
        told = json.loads(out)[0]
        states.append(code)
        used.append(told["used_percent"]["number"])
        ends.append(told["wear_out"])
        if used[-1] >= 100:
            break
    assert used == sorted(used)
    assert states == [0 if each < 85 else 1 if each < 95 else 3 for each in used]
    assert {*states} == {0, 1, 3}
    half = next(step for step, each in enumerate(used) if each >= 50)
    foretold = (date.fromisoformat(ends[half]["date"]) - date(1970, 1, 1)).days
    assert foretold == pytest.approx(len(used) - 1, rel=0.1)
    assert ends[half]["earliest"] <= ends[half]["date"] <= ends[half]["latest"]
