"""Writes a profile: title and summary, then each number with its kind and its source.

Left out: which numbers change, and why; whoever derives a profile says so (`fitting`, `twin`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from ssdlab.engine.shown import Shown

DEFAULT = "default"
"""The source of a number that the profile does not name."""
SET = "set"
"""The kind of a number that was set by the user."""


def document(
    title: str, summary: str, shown: Shown, entry_of: Callable[[Mapping[str, Any]], str | None]
) -> str:
    """Return a profile's text.

    Parameters
    ----------
    shown
        The base, as the engine shows it.
    entry_of
        Gives what stands behind the name of a shown number; None leaves it out.
    """
    lines = [f"title = {_toml(title)}", f"summary = {_toml(summary)}", ""]
    section = ""
    for each in shown["parameters"]:
        written = entry_of(each)
        if written is None:
            continue
        first, _, name = each["key"].rpartition(".")
        if first != section:
            lines += ["", f"[{first}]"]
            section = first
        lines.append(f"{name} = {written}")
    return "\n".join(lines) + "\n"


def entry(value: Any, kind: str, source: str) -> str:
    """Return what stands behind a number's name; a value in text may be a number or a list."""
    shown = _toml(_number(value) if isinstance(value, str) else value)
    return f'{{ value = {shown}, kind = "{kind}", source = {_toml(source)} }}'


def _number(setting: str) -> Any:
    """Return what a setting is in TOML: a number, a list, or a text."""
    try:
        return json.loads(setting)
    except ValueError:
        return setting


def _toml(value: Any) -> str:
    # TOML's basic strings, numbers, booleans and lists are written as JSON's.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
