"""The profile of a twin: what was derived, and the base's numbers, which are not this drive's.

A number that the base has from its own data sheet or measurements is *assumed* here, and says whose
it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ssdlab import engine
from ssdlab.study.profile_file import DEFAULT, document, entry
from ssdlab.study.twin.twin import Twin

_OF_ANY_DRIVE = "assumed"


def profile_text(twin: Twin, where: str) -> str:
    """Write the profile of a twin of the drive whose figures a file has."""
    shown = engine.show(twin.base)
    base = Path(twin.base).stem

    def entry_of(number: Mapping[str, Any]) -> str | None:
        derived = twin.numbers.get(number["key"])
        if derived is not None:
            return entry(derived.value, derived.kind, derived.source)
        if number["source"] == DEFAULT:
            return None
        source = str(number["source"])
        if number["kind"] != _OF_ANY_DRIVE:
            source = f"as the {base}: {source}"
        return entry(number["value"], _OF_ANY_DRIVE, source)

    name = Path(where).name
    fitted = sum(each.how != "predicted" for each in twin.compared)
    summary = f"twin of a measured drive: {fitted} figures of {name}, the rest as the {base}"
    return document(f"Twin by {name}", summary, shown, entry_of)
