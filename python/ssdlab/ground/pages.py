"""HTML pages from the template of a package; nothing is loaded from a network."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

_ENVIRONMENT = jinja2.Environment(
    autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
)
"""Nothing is left unescaped but charts, and nothing may be missing."""
_ENVIRONMENT.filters["svg"] = Markup


def render(package: str, **values: Any) -> str:
    """Return a package's ``page.html.j2`` with its values put in."""
    return _ENVIRONMENT.from_string(_read(package, "page.html.j2")).render(**values)


def embedded(package: str, file: str) -> Markup:
    """Return a package's style sheet or script, for a page that holds it."""
    return Markup(_read(package, file))


def embedded_json(value: Any) -> Markup:
    """Return JSON for a page that holds it; it ends no script element, whatever is in it."""
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return Markup(text.replace("<", "\\u003c"))


def _read(package: str, file: str) -> str:
    return resources.files(package).joinpath(file).read_text(encoding="utf-8")
