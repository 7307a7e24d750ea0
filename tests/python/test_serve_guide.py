"""docs/howto/serve.md and smart.md: their scripts run as they stand."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.end_to_end

ROOT = Path(__file__).parents[2]
NEEDS = {"power_cuts": "qemu-io", "monitoring": "qemu-io curl", "teaching": "fio", "ageing": "sed"}
SHOWS = {
    "power_cuts": ["power cut at", "00000000:  0", "the drive broke its word"],
    "monitoring": ["the sector cannot be read", "ssdlab_"],
    "teaching": ["IOPS="],
    "ageing": ["worn: exit 1, WARNING", "read-only: exit 2, CRITICAL", "/dev/drive -d sat"],
}


@pytest.mark.parametrize("name", NEEDS)
def test_a_script_runs_as_it_stands(name: str, tmp_path: Path) -> None:
    """In an empty folder, to its end, and leaves no server behind."""
    for tool in NEEDS[name].split():
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is not here")
    beside = Path(sys.executable).parent
    done = subprocess.run(
        [ROOT / f"examples/serve/{name}.sh"],
        cwd=tmp_path,
        env={**os.environ, "PATH": f"{beside}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for words in SHOWS[name]:
        assert words in done.stdout
    guides = [(ROOT / f"docs/howto/{guide}.md").read_text("utf-8") for guide in ("serve", "smart")]
    assert any(f"examples/serve/{name}.sh" in guide for guide in guides)
