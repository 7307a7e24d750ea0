"""Runs in the guest: talks to drives over NVMe/TCP with Debian's tools, and reports what they said.

One JSON object an item goes to the second serial port.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

from common import PORT, shell

ITEMS = json.loads(Path("/guest/lines.json").read_text(encoding="utf-8"))
shell("ip link set lo up; ip addr add 10.0.2.15/24 dev eth0; ip link set eth0 up")
with open(PORT, "w", encoding="utf-8") as port:
    for item in ITEMS:
        start = time.monotonic()
        print(item["name"], flush=True)
        done = [(line, *shell(line)) for line in item["lines"]]
        seconds = round(time.monotonic() - start, 1)
        port.write(json.dumps({"name": item["name"], "lines": done, "seconds": seconds}) + "\n")
        port.flush()
