"""Layouts built for real in a guest kernel: what the audit finds, and what mends it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from image import Missing, build, fetch_kernel
from machine import GuestDrive, Run, boot

HERE = Path(__file__).parent
PACKAGE = HERE.parent.parent / "python" / "ssdlab"
LAYOUTS: list[dict[str, Any]] = json.loads((HERE / "layouts.json").read_text())["layouts"]
TIMEOUT_S = 510
"""With all around it a run ends within ten minutes; a quiet machine needs four."""


class Results(dict[str, dict[str, Any]]):
    """Reports by layout; of one that was not reached it says why."""

    def __init__(self, run: Run) -> None:
        super().__init__((report["name"], report) for report in run.reports)
        self._end = run.end

    def __missing__(self, name: str) -> dict[str, Any]:
        """Fail: what was not reached is not passed."""
        pytest.fail(f"{name}: {self._end}", pytrace=False)


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Boot one guest that tries every layout."""
    folder = tmp_path_factory.mktemp("guest")
    files = [
        (HERE / "init", "/init"),
        (HERE / "inside.py", "/guest/inside.py"),
        (HERE / "layouts.json", "/guest/layouts.json"),
        (PACKAGE / "__init__.py", "/guest/ssdlab/__init__.py"),
        (PACKAGE / "errors.py", "/guest/ssdlab/errors.py"),
        (PACKAGE / "tool.py", "/guest/ssdlab/tool.py"),
        (PACKAGE / "audit", "/guest/ssdlab/audit"),
    ]
    drives = [GuestDrive()] * 4 + [GuestDrive(discard=False)]
    try:
        kernel = fetch_kernel()
        initrd = build(kernel, folder, files)
        return Results(boot(kernel, initrd, drives, folder, TIMEOUT_S))
    except Missing as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("layout", LAYOUTS, ids=[layout["name"] for layout in LAYOUTS])
def test_layout(results: Results, layout: dict[str, Any]) -> None:
    """Exactly the expected findings; the remedy, as printed, turns its finding green."""
    result = results[layout["name"]]
    assert result["failed"] == []
    found = [[each["check"], each["severity"]] for each in result["found"]]
    assert found == layout["found"], result["found"]
    if found:
        assert layout["at"] in result["found"][0]["where"]
    if layout.get("mend"):
        checks = [each["check"] for each in result["after"]]
        assert layout["found"][0][0] not in checks, result["after"]


PROVEN = [layout for layout in LAYOUTS if "prove" in layout]


@pytest.mark.parametrize("layout", PROVEN, ids=[layout["name"] for layout in PROVEN])
def test_proof_of_trim(results: Results, layout: dict[str, Any]) -> None:
    """Every layer of a good chain counts discards; of a broken one those above the break do."""
    result, expected = results[layout["name"]], layout["prove"]
    proof = result["proof"]
    assert proof.get("stops_at") == expected["stops_at"], proof
    assert proof["broken_by"] == ([expected["broken_by"]] if "broken_by" in expected else [])
    if expected["stops_at"] is None:
        assert_all_count(proof)
    if layout.get("mend"):
        assert_all_count(result["proof_after"])


def assert_all_count(proof: dict[str, Any]) -> None:
    assert proof["stops_at"] is None and proof["broken_by"] == [], proof
    assert all(layer["requests"] > 0 for layer in proof["layers"]), proof
