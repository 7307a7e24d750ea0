"""The tables of parameters in docs/reference/drives.md are those of the profiles."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from ssdlab import engine

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "drives.md"
Shown = Mapping[str, Mapping[str, Any]]
Cell = Callable[[Shown], str]


def _valued(key: str) -> Cell:
    """Give a value with the letter of its kind."""
    return lambda shown: f"{shown[key]['text']} {shown[key]['kind'][0]}"


def _word(key: str) -> Cell:
    return lambda shown: str(shown[key]["text"])


def _cache(shown: Shown) -> str:
    return "" if _word("ftl.slc_cache")(shown) == "none" else _valued("ftl.slc_cache_bytes")(shown)


def _protected(shown: Shown) -> str:
    return "yes" if _word("buffer.power_loss_protected")(shown) == "true" else "no"


def _dies(shown: Shown) -> str:
    return " × ".join(
        _valued(f"nand.{each}")(shown) for each in ("channels", "dies_per_channel", "planes")
    )


TABLES: tuple[dict[str, Cell], ...] = (
    {
        "over-provisioning": _valued("over_provisioning"),
        "cell": _word("nand.cell"),
        "channels × dies × planes": _dies,
        "page": _valued("nand.page_bytes"),
        "pages a block": _valued("nand.pages_per_block"),
        "tR µs": _valued("nand.read_us"),
        "tPROG µs": _valued("nand.program_us"),
        "channel MB/s": _valued("nand.channel_mb_per_s"),
        "rated cycles": _valued("reliability.rated_cycles"),
    },
    {
        "mapping unit": _valued("ftl.mapping_unit_bytes"),
        "read command µs": _valued("controller.read_command_us"),
        "write command µs": _valued("controller.write_command_us"),
        "link MB/s": _valued("link.mb_per_s"),
        "buffer": _valued("buffer.bytes"),
        "power-loss protected": _protected,
        "pace of collection": _word("ftl.gc_pace"),
        "SLC cache": _cache,
    },
)


def _drives_of(lines: list[str]) -> list[str]:
    return [line.split("`")[1] for line in lines]


def _row(name: str, cells: Mapping[str, Cell]) -> str:
    shown = {each["key"]: each for each in engine.show(name)["parameters"]}
    return f"| `{name}` | {' | '.join(cell(shown) for cell in cells.values())} |"


@pytest.mark.parametrize("cells", TABLES, ids=("flash", "controller"))
def test_a_table_says_what_the_profiles_say(
    cells: Mapping[str, Cell], request: pytest.FixtureRequest
) -> None:
    """Each row; `pytest --renew-golden` writes them anew, for the drives that stand there."""
    text = PAGE.read_text()
    head = f"| profile | {' | '.join(cells)} |\n"
    assert head in text
    rest = text.split(head)[1].splitlines()[1:]
    lines = rest[: next(at for at, line in enumerate(rest) if not line.startswith("| `"))]
    rows = [_row(name, cells) for name in _drives_of(lines)]
    if request.config.getoption("--renew-golden"):
        PAGE.write_text(text.replace("\n".join(lines), "\n".join(rows)))
        return
    assert lines == rows


def test_every_ssd_has_its_rows() -> None:
    """No profile with flash is left out, but `theory`, whose parameters are chosen."""
    text = PAGE.read_text()
    for profile in engine.profiles():
        if profile["over_provisioning"] is not None and profile["name"] != "theory":
            assert text.count(f"| `{profile['name']}` |") >= len(TABLES), profile["name"]
