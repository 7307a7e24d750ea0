"""The page that lives: what a served drive does, second by second.

The page holds the samples so far and gets the next by server-sent events (`ssdlab.live.live`).
Its script draws the charts; nothing is loaded from anywhere else, and its policy forbids that.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ssdlab.ground import pages, text
from ssdlab.live.live import SECONDS

_LIMITS = (
    "Requests a second are counted on the clock of this machine. With pace off they tell how fast "
    "this machine simulates, not how fast the drive is; latencies are of the drive's own clock "
    "always.",
    "Write amplification is that of the second. Garbage collection comes in bursts, and a second "
    "in which the host writes little shows large figures.",
    "The host's own caches decide what reaches the drive: a file system may answer from memory, "
    "and writes later than a program does.",
)


def build_html(told: Mapping[str, Any], history: Mapping[str, Any]) -> str:
    """Return the page.

    Parameters
    ----------
    told
        What `Served.stats` told.
    history
        What `Live.history` told.
    """
    own = __name__
    return pages.render(
        own,
        css=pages.embedded("ssdlab.report", "page.css") + pages.embedded(own, "page.css"),
        script=pages.embedded(own, "page.js"),
        recorded=pages.embedded_json({"seconds": SECONDS, **history}),
        name=str(told.get("name", "a drive")),
        facts=[*_facts(told)],
        addresses=[str(each) for each in told.get("addresses") or ()],
        limits=_LIMITS,
        version=str(told.get("version", "")),
    )


def policy(html: str) -> str:
    """Return the page's content security policy: its own script and style, and its own server."""
    kinds = {
        kind: [_digest(each) for each in re.findall(rf"<{kind}>(.*?)</{kind}>", html, re.DOTALL)]
        for kind in ("script", "style")
    }
    return (
        f"default-src 'none'; script-src {' '.join(kinds['script'])}; "
        f"style-src {' '.join(kinds['style'])}; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _facts(told: Mapping[str, Any]) -> Iterator[str]:
    if "capacity_bytes" in told:
        yield text.size(told["capacity_bytes"])
    if "condition" in told:
        yield f"{told['condition']} at the start"
    if "volatile" in told:
        yield "volatile write buffer" if told["volatile"] else "protected against power loss"
    if "pace" in told:
        yield f"pace {told['pace']}"
    if "durable" in told:
        yield f"flushed data outlive the {told['durable']}"


def _digest(content: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()}'"
