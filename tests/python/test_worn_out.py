"""A drive that is worn out, read-only, full or short of spare says so in every form."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from machine import MadeMachine
from ssdlab import engine
from ssdlab.engine.failures import failures_of, with_failures
from ssdlab.engine.result import Result
from ssdlab.ground.exit_codes import Exit
from ssdlab.machine.audit import Severity, audit
from ssdlab.machine.health.simulated import smart_json
from ssdlab.machine.known_faults import all_faults, faults_of
from test_health import examined, nvme
from test_simulated_health import SMALL

Command = Callable[..., tuple[int, str, str]]
SETTINGS = [word for key, value in SMALL for word in ("--set", f"{key}={value}")]
_WITHOUT_ROOM = (
    "capacity_bytes=12MiB",
    "over_provisioning=0.1",
    "nand.channels=1",
    "nand.dies_per_channel=1",
    "nand.pages_per_block=16",
    "ftl.spare_counts=all",
    "ftl.gc_pace=batch",
    "ftl.parity_stripe_pages=none",
    "reliability.factory_bad_share=0",
    "buffer.bytes=0",
)
"""Open and free blocks take all the spare, so that collection gains nothing in the end."""
WRITES = ("--rw=randwrite", "--bs=4k", "--iodepth=4", "--name=wear")


def wear_out(command: Command, save: str = "worn.ssd") -> tuple[int, str, str]:
    """Write until writes fail."""
    worn = [word.replace("rated_cycles=100", "rated_cycles=3") for word in SETTINGS]
    job = ("run", "--drive", "samsung-990-pro-1tb", *worn, *WRITES, "--io_size=2g")
    return command(*job, "--save", save, "-o", "r.json", "--output-format", "json")


def test_a_drive_that_wears_out(command: Command, tmp_path: Path) -> None:
    """The run that wears it out, and each one after, ends with a finding, a sentence and JSON."""
    code, _, error = wear_out(command)
    assert code == Exit.FINDING
    assert "samsung-990-pro-1tb is worn out and read-only: out of good blocks" in error
    assert re.search(r"wear stopped after [\d,]+ requests, because a write failed", error)
    job = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["jobs"][0]
    assert job["error"] == 30
    assert job["ssdlab"]["notices"][:2] == failures_of(job)
    assert Result.load("r.json").failures == tuple(failures_of(job))
    code, out, error = command("run", "--drive", "worn.ssd", *WRITES, "--io_size=1m")
    assert code == Exit.FINDING and "wear stopped after 0 requests" in error
    assert "err=30" in out or "wear" in out
    code, _, error = command("run", "--drive", "worn.ssd", "--rw=randread", "--io_size=1m")
    assert code == Exit.FINDING and "read-only" in error and "stopped" not in error


def blocks_of(job: dict[str, Any]) -> tuple[int, float]:
    """Give how many good blocks a job leaves, and the bytes of each."""
    wear = job["ssdlab"]["wear"]
    blocks = sum(number for _, number in wear["erase_counts"]["histogram"])
    return blocks, wear["flash_bytes"] / blocks


def check_amplification(job: dict[str, Any], blocks: int, block_bytes: float) -> None:
    """Hold a job's write amplification against what its counters say that was programmed, and why.

    Of the host, moved by collection or levelling, folded out of SLC, or left empty in a row. No
    block takes more than it holds between two erases.
    """
    counters, whole = job["ssdlab"]["counters"], job["ssdlab"]["write_amplification"]
    host = counters["nand_host_bytes_written"] // 4096
    causes = ("gc_pages_moved", "wear_leveling_pages_moved", "slc_pages_folded")
    programmed = host + sum(counters[each] for each in (*causes, "padding_pages_written"))
    assert counters["nand_pages_written"] == programmed
    assert host * 4096 == job["write"]["io_bytes"]
    assert whole == pytest.approx(programmed / host)
    most = (counters["blocks_erased"] + blocks) * block_bytes
    assert 1.0 < whole <= most / counters["nand_host_bytes_written"]


def test_the_write_amplification_of_a_worn_drive(command: Command, tmp_path: Path) -> None:
    """It covers what was written before the end; a read-only drive has none, and nothing moves."""
    wear_out(command)
    (job,) = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["jobs"]
    # What went bad held pages as well.
    blocks, block_bytes = blocks_of(job)
    check_amplification(job, blocks + job["ssdlab"]["wear"]["bad_blocks"], block_bytes)
    words = ("run", "--drive", "worn.ssd", *WRITES, "--io_size=1m", "--output-format", "json")
    code, out, _ = command(*words)
    (job,) = json.loads(out)["jobs"]
    assert (code, job["ssdlab"]["read_only"]) == (Exit.FINDING, True)
    assert job["ssdlab"]["write_amplification"] is None
    assert job["ssdlab"]["counters"]["nand_bytes_written"] == job["write"]["io_bytes"] == 0


def test_its_health_in_every_form(command: Command, tmp_path: Path) -> None:
    """SMART values are in range, and table, JSON, Nagios and Prometheus say CRITICAL."""
    wear_out(command)
    _, smart, _ = command("show", "worn.ssd", "--smart-json")
    log = json.loads(smart)["nvme_smart_health_information_log"]
    # Spare below its threshold, reliability degraded, read-only: as over NVMe/TCP.
    assert log["critical_warning"] == 1 | 4 | 8 and log["available_spare"] == 0
    assert 0 <= log["percentage_used"] <= 255
    (tmp_path / "s.json").write_text(smart, encoding="utf-8")
    for form, code, said in (
        ("table", 3, "looks wrong, CRITICAL: media is read-only"),
        ("json", 3, '"severity": "CRITICAL"'),
        ("nagios", 2, "CRITICAL - worn.ssd: "),
        ("prometheus", 3, "smartctl_device_critical_warning{"),
    ):
        found, out, _ = command("health", "--from", "s.json", "--format", form)
        assert found == code and said in out, form
    assert re.search(r"ssdlab_device_severity\{[^}]*\} 2\n", out)


def check_full(job: dict[str, Any]) -> None:
    """Hold the write amplification of a full drive against its blocks, which are full but for few.

    Each erase followed upon a block that was full, and three at most are still being filled: for
    the host, for collection, and the one that it had no room to take.
    """
    counters, (blocks, block_bytes) = job["ssdlab"]["counters"], blocks_of(job)
    full = counters["blocks_erased"] + blocks
    assert counters["nand_bytes_written"] >= (full - 3) * block_bytes
    check_amplification(job, blocks, block_bytes)


def test_a_drive_without_free_blocks(command: Command, tmp_path: Path) -> None:
    """Good blocks are left, but none free: SMART says read-only, and health is critical."""
    for link, said in (
        ("link.protocol=nvme", "media is read-only"),
        ("link.protocol=sata-ncq", "the drive reports failure"),
    ):
        given = [word for number in (*_WITHOUT_ROOM, link) for word in ("--set", number)]
        words = ("run", "--drive", "intel-dc-s3500-80gb", *given, *WRITES, "--io_size=64m")
        words = (*words, "--save", "stuck.ssd", "--output-format", "json")
        code, out, error = command(*words)
        assert code == Exit.FINDING and "out of free blocks" in error
        (job,) = json.loads(out)["jobs"]
        check_full(job)
        shown = engine.show("stuck.ssd")
        assert shown["read_only"] and shown["wear"]["spare_blocks"] >= 0
        _, smart, _ = command("show", "stuck.ssd", "--smart-json")
        (tmp_path / "s.json").write_text(smart, encoding="utf-8")
        found, out, _ = command("health", "--from", "s.json")
        assert found == 3 and said in out
        found, out, _ = command("health", "--from", "s.json", "--format", "json")
        (told,) = json.loads(out)
        assert (found, told["severity"]) == (3, "CRITICAL") and said in out
        found, out, _ = command("health", "--from", "s.json", "--format", "nagios")
        assert found == 2 and out.startswith("CRITICAL - stuck.ssd: ") and said in out
        _, out, _ = command("show", "stuck.ssd")
        assert "read-only" in out and "out of free blocks" in " ".join(out.split())
        (tmp_path / "stuck.ssd").unlink()


def test_a_run_without_failures_is_done(command: Command) -> None:
    """A drive in order ends with 0, and its JSON stays as the engine wrote it."""
    words = ("run", "--drive", "samsung-990-pro-1tb", *SETTINGS, *WRITES, "--io_size=1m")
    assert command(*words)[0] == Exit.DONE
    document = '{"jobs":[{"error":0,"ssdlab":{"read_only":false,"notices":[]}}]}'
    assert with_failures(document) is document


def test_failures_of_other_kinds() -> None:
    """A full drive is not called worn out; a read that failed and any other error are told."""
    full = {"ssdlab": {"read_only": True, "read_only_reason": "out of free blocks: …"}}
    assert failures_of(full) == ["the drive is read-only: out of free blocks: …"]
    for error, said in ((5, "EIO"), (28, "ENOSPC"), (7, "error 7")):
        (told,) = failures_of({"jobname": "j", "error": error, "read": {"total_ios": 1234}})
        assert told.startswith("j stopped after 1,234 requests") and said in told
    assert failures_of({"error": 0}) == []


@cache
def _shown(name: str) -> dict[str, Any]:
    return engine.show(name, (("capacity_bytes", "400GB" if "samsung" in name else "16GB"),))


@pytest.mark.parametrize(
    "name",
    ["intel-dc-s3500-80gb", "intel-x25-m-g2-80gb", "samsung-870-qvo-1tb", "samsung-990-pro-1tb"],
)
@pytest.mark.parametrize("spare", [-100, -2, -1, 0, 1])
def test_spare_that_is_used_up(name: str, spare: int) -> None:
    """Whatever is left, values are in range; below a tenth the drive itself reports failure."""
    shown = deepcopy(_shown(name))
    left = max(spare, 0)
    percent = 100 * left // (left + 50)
    # Bit 0 is short spare, bits 2 and 3 are a drive that takes no more writes.
    told = {"read_only": spare < 0, "critical_warning": 13 if spare < 0 else 1}
    shown["health"].update(spare_percent=percent, blocks_lost=50, **told)
    content = smart_json(shown, "old.ssd")
    for row in content.get("ata_smart_attributes", {}).get("table", []):
        assert 0 <= row["value"] <= 100 and 0 <= row["raw"]["value"] < 2**48
    each = examined(json.loads(json.dumps(content)))
    assert str(each.severity) == "CRITICAL"
    said = [finding.what for finding in each.findings]
    assert "the drive reports failure" in said
    is_nvme = "nvme_smart_health_information_log" in content
    assert ("media is read-only" in said) == (spare < 0 and is_nvme)


def test_the_list_of_faults() -> None:
    """Every entry has its source and remedy, patterns that compile, and finds its own drive."""
    for fault in all_faults():
        assert len(fault.source) > 20 and fault.remedy and fault.why
        assert fault.severity in ("red", "yellow")
        assert not (fault.unverified and fault.severity == "red")
    for model, firmware, hours in (
        ("M4-CT128M4SSD2", "0009", 5184),
        ("HP VO0480JFDGT", "HPD5", 32768),
        ("EO1600JVYPP", "HPD6", 40000),
        ("LT0800RO", "D40Z", 40000),
        ("INTEL SSDSC2KB038T8", "XCV10100", 0),
        ("Micron_7450_MTFDKCC960TFR", "E2MU200", 0),
        ("Samsung SSD 990 PRO 2TB", "0B2QJXD7", 0),
    ):
        (fault,) = faults_of(model, firmware)
        assert fault.hours == hours
    for model, firmware in (
        ("HP VO0480JFDGT", "HPD8"),
        ("EO1600JVYPP", "HPD7"),
        ("LT0800RO", "D417"),
        ("M4-CT128M4SSD2", "0309"),
        ("INTEL SSDSA2M160G2GC", "2CV102M3"),
        ("Samsung SSD 980 PRO 1TB", "5B2QGXA7"),
    ):
        assert faults_of(model, firmware) == []
    for model in ("VO0480JFDGV", "VO1920JFDGT", "MO0400JFFCK", "VK003840JWDAV"):
        assert faults_of(model, "HPD5") == []  # No such name in the bulletin.
    assert len(faults_of("INTEL SSDSC2KB03", "0100", is_cut=True)) == 1
    assert faults_of("INTEL SSDSC2KB24", "0100", is_cut=True) == []
    (withdrawn,) = faults_of("Samsung SSD 850 PRO 256GB", "EXM02B6Q")
    assert "(not verified: " in withdrawn.sentence("850 PRO", "EXM02B6Q")
    (fault,) = faults_of("EK0800JVYPN", "HPD4")
    assert fault.sentence("EK0800JVYPN", "HPD4", 39_000).endswith("1,000 hours are left")


def test_both_verbs_know_the_same_faults() -> None:
    """Health and audit judge a drive's firmware by one list, alike bad."""
    model, firmware = "Samsung SSD 980 PRO 1TB", "3B2QGXA7"
    content = nvme(percentage_used=1) | {"model_name": model, "firmware_version": firmware}
    assert str(examined(content).severity) == "CRITICAL"
    machine = MadeMachine().drive(
        "nvme0n1", device_model=model, device_firmware_rev=firmware, device_vendor=""
    )
    machine.partition("nvme0n1p1", "nvme0n1", start=2048).mount("nvme0n1p1", "/")
    machine.command("smartctl --json -x --nocheck=standby /dev/nvme0n1", json.dumps(content))
    red = [each for each in audit(machine.system()).findings if each.severity is Severity.RED]
    # One finding for one cause: the wear check does not tell it again.
    assert [each.check for each in red] == ["known faults"]
