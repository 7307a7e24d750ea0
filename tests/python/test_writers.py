"""One module writes files: nothing else opens one for writing, in either language."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import ssdlab

PACKAGE = Path(ssdlab.__file__).parent
CRATES = Path(__file__).parents[2] / "crates"
NO_RESULT = {
    # Something to trim, removed before it is closed.
    "machine/audit/prove_trim.py": {"NamedTemporaryFile"},
    # A copy of an export's ends, to be looked at; it is removed before it is closed.
    "bench/real/export.py": {"NamedTemporaryFile"},
    # A block device, opened exclusively by the leave to destroy it.
    "bench/real/safety.py": {"os.open"},
    # A lock: empty, and removed by whoever held it last.
    "ground/lock.py": {"os.open"},
    # What a server in the background says, in the folder of its drive.
    "live/background.py": {"os.open"},
    # What sysfs has as a switch.
    "bench/real/write_cache.py": {"os.open"},
    # The standard streams, where they were closed.
    "cli/streams.py": {"open", "os.open"},
    # Nowhere, in place of a standard output that nobody reads any more.
    "ground/stdout.py": {"os.open"},
}
"""What else writes, and what with; no file of the user's comes of it."""

KEEPERS = {
    # A drive that holds bytes lies in a folder of its own: bytes, checkpoint, account.
    *("disk/src/folder.rs", "disk/src/storage.rs", "disk/src/copying.rs"),
    # What is done to it goes into a log while it is served.
    "lab/src/log_folder.rs",
    # Its tests put a file where a socket should be.
    "serve/src/socket.rs",
}
"""What of the crates keeps files: state of a drive that lives on, not results."""

_WRITES = {"NamedTemporaryFile", "mkstemp", "write_text", "write_bytes", "copy", "copyfile", "move"}
_OF_OS = {"os.replace", "os.rename", "os.link"}
_IN_RUST = re.compile(r"File::create|OpenOptions|fs::(?:write|rename|copy|hard_link)\b")


def _writes(call: ast.Call) -> str:
    """Return what a call writes a file with; nothing where it does not."""
    name = ast.unparse(call.func)
    last = name.rpartition(".")[2]
    words = [ast.unparse(each) for each in (*call.args, *(word.value for word in call.keywords))]
    if name == "os.open":
        return name if re.search("O_WRONLY|O_RDWR|O_CREAT", " ".join(words)) else ""
    if last == "open":
        modes = [word for word in words if re.fullmatch(r"'[rwaxbt+]+'", word)]
        return "open" if re.search("[wax+]", "".join(modes)) else ""
    if name in _OF_OS:
        return name
    on_a_module = last not in ("copy", "move") or name.startswith("shutil.")
    return last if last in _WRITES and on_a_module else ""


def writers(text: str) -> Iterator[str]:
    """Give what a module writes files with."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and (found := _writes(node)):
            yield found


def test_one_module_of_python_writes() -> None:
    """`output.py`, and where no file comes of it."""
    found = {
        str(path.relative_to(PACKAGE)): set(writers(path.read_text("utf-8")))
        for path in PACKAGE.rglob("*.py")
    }
    assert found.pop("ground/output.py") == {"os.open", "os.replace", "os.link"}
    assert {name: with_ for name, with_ in found.items() if with_} == NO_RESULT


def test_nothing_of_the_crates_writes() -> None:
    """They hand bytes to Python, but for the state of a drive that is being served."""
    texts = {
        str(path.relative_to(CRATES)): path.read_text("utf-8")
        for path in CRATES.glob("*/src/**/*.rs")
    }
    assert len(texts) > 100
    assert {path for path, text in texts.items() if _IN_RUST.search(text)} <= KEEPERS


@pytest.mark.parametrize(
    ("text", "writes"),
    [
        ("open('a', 'w')", True),
        ("Path('a').open(mode='rb+')", True),
        ("os.open(path, os.O_WRONLY | os.O_CREAT)", True),
        ("place.write_bytes(b'')", True),
        ("shutil.copy(a, b)", True),
        ("open('file')", False),
        ("place.open('rb')", False),
        ("os.open(path, os.O_RDONLY)", False),
        ("settings.copy()", False),
    ],
)
def test_writing_is_found(text: str, *, writes: bool) -> None:
    """In each spelling that the package might use; reading is not writing."""
    assert bool(list(writers(text))) is writes
