"""Runs in the guest: a database writes pages while drives lose power, and it counts torn ones.

Between two pages there is room: the kernel joins writes that are neighbours, and of what is longer
than it says a drive promises nothing.

Controllers whose drive has lost its power are let go of, so that no write is tried again; then the
drives are connected anew, and each page is read. One JSON object a cut goes to the second serial
port.
"""

from __future__ import annotations

import json
import mmap
import os
import random
import threading
import time
from pathlib import Path

from common import PORT, shell

PAGE_BYTES = 16 << 10
PAGES = 64
STRIDE = 2 * PAGE_BYTES
WRITERS = 4
ASKED = json.loads(Path("/guest/pages.json").read_text(encoding="utf-8"))


def devices() -> list[str]:
    """Connect the drives; return their devices, in order."""
    found = []
    for name, line in ASKED["connect"].items():
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and not (device := device_of(name)):
            print(shell(line), flush=True)
            time.sleep(0.5)
        found.append(device)
    return found


def device_of(name: str) -> str:
    """Return the block device of a subsystem; empty where there is none."""
    for subsystem in Path("/sys/class/nvme-subsystem").glob("*"):
        told = subsystem / "subsysnqn"
        if told.exists() and told.read_text(encoding="ascii").strip() == name:
            path = Path("/dev") / f"{subsystem.name.replace('-subsys', '')}n1"
            if path.exists():
                return str(path)
    return ""


def write_on(path: str, seed: int) -> None:
    """Write pages, each of one letter, until the drive is gone."""
    draws = random.Random(seed)
    page = mmap.mmap(-1, PAGE_BYTES)
    file = os.open(path, os.O_WRONLY | os.O_DIRECT)
    try:
        while True:
            page[:] = bytes([draws.randrange(1, 256)]) * PAGE_BYTES
            os.pwrite(file, page, draws.randrange(PAGES) * STRIDE)
    except OSError:
        return
    finally:
        os.close(file)


def joined() -> int:
    """Count the writes that the kernel joined with others, over all controllers."""
    paths = [*Path("/sys/class/nvme").glob("nvme*/nvme*n1/stat")]
    assert paths, "no controller counts its requests"
    return sum(int(path.read_text(encoding="ascii").split()[5]) for path in paths)


def give_up() -> None:
    """Let go of the drives once their power is gone, so that no write is tried again."""
    states = [*Path("/sys/class/nvme").glob("nvme*/state")]
    while any(state.read_text(encoding="ascii").strip() == "live" for state in states):
        time.sleep(0.05)
    for name in ASKED["connect"]:
        print(shell(f"nvme disconnect -n {name}"), flush=True)


def torn(path: str) -> int:
    """Count the pages that hold several letters."""
    with Path(path).open("rb") as file:
        content = file.read(PAGES * STRIDE)
    assert len(content) == PAGES * STRIDE, path
    pages = [content[at : at + PAGE_BYTES] for at in range(0, len(content), STRIDE)]
    return sum(len(set(page)) > 1 for page in pages)


def live_through_a_cut(number: int, port: object) -> dict[str, object]:
    """Write until the power fails, and look."""
    paths = devices()
    writers = [
        threading.Thread(target=write_on, args=(path, 100 * number + place))
        for path in paths
        for place in range(WRITERS)
    ]
    for writer in writers:
        writer.start()
    time.sleep(1)
    report(port, {"name": f"cut {number}, now", "joined": joined()})
    give_up()
    for writer in writers:
        writer.join()
    report(port, {"name": f"cut {number}, gone"})
    return {"name": f"cut {number}", "torn": [torn(path) for path in devices()]}


def report(port: object, told: dict[str, object]) -> None:
    """Write a line, and see that it is there."""
    port.write(json.dumps(told) + "\n")  # type: ignore[attr-defined]
    port.flush()  # type: ignore[attr-defined]
    print(told, flush=True)


shell("ip link set lo up; ip addr add 10.0.2.15/24 dev eth0; ip link set eth0 up")
with open(PORT, "w", encoding="utf-8") as port:
    for number in range(ASKED["cuts"]):
        report(port, live_through_a_cut(number, port))
