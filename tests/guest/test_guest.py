"""Layouts built for real in a guest kernel: what the audit finds, and what mends it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from image import Missing, build, fetch_kernel
from machine import GuestDrive, boot

HERE = Path(__file__).parent
PACKAGE = HERE.parent.parent / "python" / "ssdlab"
LAYOUTS: list[dict[str, Any]] = json.loads((HERE / "layouts.json").read_text())["layouts"]
TIMEOUT_S = 900


@pytest.fixture(scope="session")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Boot one guest that tries every layout; gives its reports by name."""
    folder = tmp_path_factory.mktemp("guest")
    files = [
        (HERE / "init", "/init"),
        (HERE / "inside.py", "/guest/inside.py"),
        (HERE / "layouts.json", "/guest/layouts.json"),
        (PACKAGE / "__init__.py", "/guest/ssdlab/__init__.py"),
        (PACKAGE / "errors.py", "/guest/ssdlab/errors.py"),
        (PACKAGE / "audit", "/guest/ssdlab/audit"),
    ]
    drives = [GuestDrive()] * 4 + [GuestDrive(discard=False)]
    try:
        kernel = fetch_kernel()
        initrd = build(kernel, folder, files)
        reports = list(boot(kernel, initrd, drives, folder, TIMEOUT_S))
    except Missing as missing:
        pytest.skip(str(missing))
    return {report["name"]: report for report in reports}


@pytest.mark.parametrize("layout", LAYOUTS, ids=[layout["name"] for layout in LAYOUTS])
def test_layout(results: dict[str, dict[str, Any]], layout: dict[str, Any]) -> None:
    """Exactly the expected findings; the remedy, as printed, turns its finding green."""
    assert layout["name"] in results, "the guest ended before this layout"
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
def test_proof_of_trim(results: dict[str, dict[str, Any]], layout: dict[str, Any]) -> None:
    """Every layer of a good chain counts discards; of a broken one those above the break do."""
    proof = results[layout["name"]]["proof"]
    assert proof.get("stops_at") == layout["prove"]["stops_at"], proof
    if layout["prove"]["stops_at"] is None:
        assert all(layer["requests"] > 0 for layer in proof["layers"]), proof
