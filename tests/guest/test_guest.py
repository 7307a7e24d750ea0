"""Layouts built for real in a guest kernel: what the audit finds, and what mends it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from image import HERE
from machine import GuestDrive
from results import Results, boot_with

LAYOUTS: list[dict[str, Any]] = json.loads((HERE / "layouts.json").read_text())["layouts"]
DRIVES = [GuestDrive()] * 4 + [GuestDrive(discard=False), GuestDrive(controllers=2)]


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Boot one guest that tries every layout."""
    files = {
        HERE / "inside.py": "/guest/inside.py",
        HERE / "layouts.json": "/guest/layouts.json",
    }
    return boot_with(files, DRIVES, tmp_path_factory.mktemp("guest"))


@pytest.mark.parametrize("layout", LAYOUTS, ids=[layout["name"] for layout in LAYOUTS])
def test_layout(results: Results, layout: dict[str, Any]) -> None:
    """Exactly the expected findings; the remedy, as printed, turns its finding green."""
    result = results[layout["name"]]
    assert result["failed"] == []
    found = [[each["check"], each["severity"]] for each in result["found"]]
    assert found == layout["found"], result["found"]
    if found:
        assert layout["at"] in result["found"][0]["where"]
    for each in result["found"]:
        check_remedy(each["remedy"], each["typed"])
    if layout.get("refused"):
        assert "no remedy is given, because" in result["found"][0]["typed"]
    if layout.get("mend"):
        checks = [each["check"] for each in result["after"]]
        assert layout.get("mends", layout["found"][0][0]) not in checks, result["after"]
        assert result["is_redundant"], result
    if layout.get("back"):
        found = [[each["check"], each["severity"]] for each in result["back"]]
        assert found == layout["found"], result["back"]


def check_remedy(remedy: dict[str, Any], typed: str) -> None:
    """Check that it says first what it costs, and how to go back."""
    if "refused" not in remedy:
        assert not remedy["costs"] or typed.startswith("# COSTS ")
        assert not remedy["steps"] or (remedy["risk"] and remedy["undo"])


PROVEN = [layout for layout in LAYOUTS if "prove" in layout]


@pytest.mark.parametrize("layout", PROVEN, ids=[layout["name"] for layout in PROVEN])
def test_proof_of_trim(results: Results, layout: dict[str, Any]) -> None:
    """Every layer of a good chain counts discards; of a broken one those above the break do."""
    result, expected = results[layout["name"]], layout["prove"]
    proof = result["proof"]
    assert proof.get("stops_at") == expected["stops_at"], proof
    assert proof["broken_by"] == ([expected["broken_by"]] if "broken_by" in expected else [])
    if expected["stops_at"] is None:
        assert_arrives(proof, expected.get("unseen", "it is virtual"))
    if "layers" in expected:
        assert [layer["label"] for layer in proof["layers"]] == expected["layers"]
    if layout.get("mend"):
        assert_arrives(result["proof_after"], "it is virtual")


def assert_arrives(proof: dict[str, Any], end: str) -> None:
    """Discards arrive at every drive where they must; what a virtual drive does is not claimed."""
    assert proof["stops_at"] is None and proof["broken_by"] == [], proof
    assert proof["verdict"] == "not looked at" and proof["unseen"], proof
    assert all(end in line or "zeroes" in line for line in proof["unseen"]), proof
    drives = [layer for layer in proof["layers"] if layer["kind"] == "drive"]
    needed = [layer for layer in drives if layer["is_needed"]]
    assert needed and (end == "zeroes" or all(layer["requests"] for layer in needed)), proof
