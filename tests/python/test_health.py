"""Health: what recorded drives say is read as their vendor means it, and judged.

The files in ``smart`` are what drives told, cut down to small facts; ``recorded_drives.json`` has
the source of each, its expected life and why.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ssdlab.ground.errors import SsdlabError
from ssdlab.machine.health import Examination, examine, read_report
from ssdlab.real.smart.meanings import built_in, parse_families

SMART = Path(__file__).parent / "smart"
RECORDED = sorted(path.stem for path in SMART.glob("*.json"))
ABOUT = json.loads((Path(__file__).parent / "recorded_drives.json").read_text(encoding="utf-8"))
LOG = {
    "critical_warning": 0,
    "available_spare": 100,
    "available_spare_threshold": 10,
    "media_errors": 0,
}


def load(name: str) -> dict[str, Any]:
    content = json.loads((SMART / f"{name}.json").read_text(encoding="utf-8"))
    assert isinstance(content, dict)
    return content


def examined(content: dict[str, Any]) -> Examination:
    return examine(read_report(content, "drive.json"))


def drive(model: str = "Unheard-of 9000", **attributes: tuple[int, int]) -> dict[str, Any]:
    """Make an ATA report: attributes as ``a202=(value, raw)``."""
    table = [
        {"id": int(name[1:]), "name": name, "value": value, "thresh": 0, "raw": {"value": raw}}
        for name, (value, raw) in attributes.items()
    ]
    return {
        "smartctl": {"exit_status": 0},
        "device": {"name": "/dev/sda", "protocol": "ATA"},
        "model_name": model,
        "serial_number": "X",
        "ata_smart_attributes": {"table": table},
    }


def nvme(**log: object) -> dict[str, Any]:
    """Make smartctl's report of an NVMe drive."""
    return {
        "smartctl": {"exit_status": 0},
        "device": {"name": "/dev/nvme0", "protocol": "NVMe"},
        "model_name": "NVMe",
        "serial_number": "X",
        "nvme_smart_health_information_log": {**LOG, **log},
    }


def used(content: dict[str, Any]) -> float | None:
    life = examined(content).life
    return life.used_percent.number if life and life.used_percent else None


@pytest.mark.parametrize("name", RECORDED)
def test_recorded(name: str) -> None:
    """Each recorded drive gives its life, by the rule that its vendor means, and its state."""
    content, expected = load(name), ABOUT[name]
    assert expected["source"] and expected["why"]
    each = examined(content)
    assert each.life is not None
    figure, amplification = each.life.used_percent, each.life.write_amplification
    assert (figure.number if figure else None) == expected["used_percent"]
    assert figure is None or figure.rule.startswith(expected["rule"])
    assert (amplification.number if amplification else None) == (
        pytest.approx(expected["write_amplification"], rel=1e-4)
        if expected["write_amplification"]
        else None
    )
    assert str(each.severity) == expected["state"], each.findings


def test_recorded_families() -> None:
    """At least ten families of SATA drives, NVMe and SAS are recorded, and none has an identity."""
    reports = [read_report(load(name), name) for name in RECORDED]
    lives = [examine(report).life for report in reports]
    assert len({life.family.name for life in lives if life and life.family}) >= 10
    assert {report.protocol for report in reports} >= {"ATA", "NVMe", "SCSI"}
    assert {report.serial for report in reports} <= {"X", ""}


def test_202_is_life_only_where_the_vendor_says_so() -> None:
    """The same attribute is life of a Crucial, exceptions of a Samsung, errors of a hard disk."""
    assert used(drive("CT500MX500SSD1", a202=(81, 19))) == 19
    assert used(drive("Samsung SSD 860 EVO 1TB", a202=(81, 19), a177=(98, 40))) == 2
    assert used(drive("SAMSUNG SP2504C", a202=(85, 5003))) is None


def test_percent_beyond_100() -> None:
    """A raw percentage may exceed 100 and stays what it is."""
    each = examined(drive("CT500MX500SSD1", a202=(0, 130)))
    assert each.life and each.life.used_percent and each.life.used_percent.number == 130
    assert str(each.severity) == "CRITICAL"
    assert used(nvme(percentage_used=255)) == 255


def test_counters_beyond_2_to_the_53() -> None:
    """The exact text beside a counter goes before the number, which JSON readers round."""
    exact = 2**53 + 1
    log = {"data_units_written": float(exact), "data_units_written_s": str(exact)}
    life = examined(nvme(percentage_used=1, **log)).life
    assert life and life.host_written_bytes
    assert life.host_written_bytes.number == exact * 512_000


def test_kelvin_and_text_of_nvme_cli() -> None:
    """nvme-cli's Kelvin and numbers as text give the same as smartctl's numbers."""
    log = load("nvme-cli")
    log["data_units_written"] = str(log["data_units_written"])
    report = read_report(log, "nvme.json")
    assert report.temperature_celsius == 322 - 273
    assert report.nvme and report.nvme.data_units_written == 7000791


def test_an_unknown_model_says_so() -> None:
    """What looks like life is not read as life where the model is unknown; the rest is shown."""
    content = drive(a202=(50, 50), a233=(1, 0), a5=(100, 3))
    content["ata_smart_attributes"]["table"][2]["thresh"] = 100
    each = examined(content)
    life = next(finding for finding in each.findings if finding.what == "life used")
    assert life.sentence.startswith("life used: not looked at, because")
    assert "not in the database" in life.why
    # What is bad stands before what is not known.
    assert "at its threshold" in each.findings[0].what
    assert str(each.severity) == "CRITICAL"


def test_smartctls_own_reading_comes_last() -> None:
    """endurance_used of smartctl 7.5 is used for an unknown model, and yields to the vendor's."""
    assert used(drive() | {"endurance_used": {"current_percent": 7}}) == 7
    crucial = drive("CT500MX500SSD1", a202=(81, 19))
    assert used(crucial | {"endurance_used": {"current_percent": 7}}) == 19


def test_vendor_limits_hold_beside_smartctls_reading() -> None:
    """A Samsung at value 9 is critical by Samsung's own limit, whatever else is told."""
    content = drive("Samsung SSD 860 EVO 1TB", a177=(9, 900))
    assert str(examined(content | {"endurance_used": {"current_percent": 91}}).severity) == (
        "CRITICAL"
    )


def test_figures_that_disagree_are_told() -> None:
    """Standard figure and vendor's attribute more than ten percent apart are a warning."""
    page = {"name": "Percentage Used Endurance Indicator", "value": 5}
    content = drive("CT500MX500SSD1", a202=(60, 40))
    content["ata_device_statistics"] = {"pages": [{"table": [page]}]}
    each = examined(content)
    assert str(each.severity) == "WARNING"
    assert [finding.what for finding in each.findings][0] == "two figures of its life disagree"


def test_power_loss_protection() -> None:
    """A capacitor test below 100 is critical; its packed raw number is not looked at."""
    good = drive("INTEL SSDSC2BA200G3", a233=(99, 0), a175=(100, (3 << 32) | (5515 << 16) | 624))
    bad = drive("INTEL SSDSC2BA200G3", a233=(99, 0), a175=(1, 624))
    assert str(examined(good).severity) == "OK"
    assert examined(bad).findings[0].what == "power-loss protection has failed its test"


def test_every_meaning_has_a_source() -> None:
    """Every family of the database says where its meanings are from."""
    families = built_in()
    assert len(families) >= 12
    assert all(len(family.source) > 20 for family in families)


def test_overrides() -> None:
    """A family of the user's own goes before those that are built in."""
    text = """
[[drive]]
family = "ours"
models = ["CT500MX500SSD1"]
[[drive.attribute]]
id = 202
means = "life left"
"""
    own = parse_families(text, "own.toml")
    life = examine(read_report(drive("CT500MX500SSD1", a202=(81, 19)), "x"), overrides=own).life
    assert life and life.used_percent and life.used_percent.rule.startswith("attribute 202")
    assert life.used_percent.number == 19 and life.family and life.family.name == "ours"


def test_overrides_narrowed_by_firmware() -> None:
    """The example of the manual is understood, and firmware narrows a family down."""
    manual = (SMART.parents[2] / "docs" / "reference" / "health.md").read_text(encoding="utf-8")
    own = parse_families(manual.partition("```toml")[2].partition("```")[0], "health.md")
    content = drive("NEW SSD 1", a202=(100, 19 << 8))
    for firmware, expected in (("1.0b", 81), ("2.0", None), ("", None)):
        report = read_report(content | {"firmware_version": firmware}, "x")
        life = examine(report, overrides=own).life
        assert life is not None
        assert (life.used_percent.number if life.used_percent else None) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = 1", "no drives"),
        ("[[drive]]\nfamily = 'a'\ncolour = 1", "unknown key 'colour'"),
        ("[[drive]]\nfamily = 'a'\nmodels = ['(']", "pattern '(?:()$'"),
        ("[[drive]]\nfamily = 'a'\n[[drive.attribute]]\nid = 300\nmeans = 'errors'", "1 to 255"),
        ("[[drive]]\nfamily = 'a'\n[[drive.attribute]]\nid = 3\nmeans = 'luck'", "means = 'luck'"),
        (
            "[[drive]]\nfamily = 'a'\n[[drive.attribute]]\nid = 3\nmeans = 'errors'\nbits = [8, 4]",
            "bits = [8, 4]",
        ),
    ],
)
def test_overrides_that_are_not_understood(text: str, said: str) -> None:
    """File, family, key and value of what is not understood are named."""
    with pytest.raises(SsdlabError) as caught:
        parse_families(text, "own.toml")
    assert "own.toml" in str(caught.value)
    assert said in str(caught.value)
