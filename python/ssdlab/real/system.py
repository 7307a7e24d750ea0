"""The machine that is looked at: its files and what its tools say, live or captured.

Everything the audit knows goes through `System`, so a capture is simply what was read and run,
and an audit of a capture finds what the audit on the machine found. Nothing is ever written.

Captured: file paths with their text (None: not readable), folders with their entries, commands
with what they printed, links with where they lead. A folder laid out like a root file system serves
too; what its tools would say stands in ``commands/`` there, one file a command, blanks as ``_`` and
slashes as ``+``. What no check reads, or has another form, is quoted: a capture holds answers
alone, so any other key comes from another version or was added by hand.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

from ssdlab.ground import foreign
from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.tool import GaveUp, answer_of
from ssdlab.ground.unread import Unread
from ssdlab.real.sampled_files import FileSample, sample

_TIMEOUT_S = 20.0
_LONGEST_FILE = 1 << 20
_LONGEST_CAPTURE = 256 << 20
_MOST_LINKS = 40
_PARTS = ("files", "folders", "commands")
_MORE_PARTS = ("links", "running", "samples", "gave_up")
_NEVER_ASKED = "no check reads it"
_MAKE_ONE = "make one with: ssdlab audit --capture FILE"
_PATH = (
    "/usr/sbin:/usr/bin:/sbin:/bin:/opt/MegaRAID/storcli:/opt/MegaRAID/perccli:"
    "/opt/smartstorageadmin/ssacli/bin:/opt/hp/hpssacli/bin:/opt/hp/hpssacli/bld:/usr/Arcconf"
)


class System(Protocol):
    """What can be asked of a machine."""

    def read(self, path: str) -> str | None:
        """Give a file's text without the blanks around it; None where it cannot be read."""

    def entries(self, path: str) -> list[str]:
        """Name what is in a folder, sorted; empty where there is none."""

    def real(self, path: str) -> str | None:
        """Give where a path leads when all links are followed; None where nothing is."""

    def run(self, *words: str) -> str | None:
        """Give what a command prints; None where it is missing, fails or never answers."""

    def runs(self, name: str) -> bool | None:
        """Say whether a process of this name runs; None where that cannot be seen."""

    def files_of(self, place: str) -> FileSample | None:
        """Look at the largest and oldest files of a file system; None where that cannot be done."""

    def holds(self, folder: str) -> bool:
        """Whether anything of a folder was seen at all; a capture may have been made without it."""

    def gave_up(self) -> dict[str, str]:
        """Give the commands that hung or printed without end so far, each with what it did."""

    def unread(self, ask: Callable[[], object]) -> list[Unread]:
        """Give what was sent and is not understood; `ask` asks for all that is known here."""


class LiveSystem:
    """The machine it runs on."""

    def __init__(self, timeout_s: float = _TIMEOUT_S) -> None:
        self._timeout_s = timeout_s
        self._answers: dict[tuple[str, ...], str | None] = {}
        self._gave_up: dict[str, str] = {}
        self._processes: set[str] | None = None

    def read(self, path: str) -> str | None:
        """Read a file."""
        try:
            # In a tree that was handed in there may be a pipe, which would wait for a writer.
            with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
                return (file.read(_LONGEST_FILE) or b"").decode(errors="replace").strip()
        except (OSError, ValueError):
            return None

    def entries(self, path: str) -> list[str]:
        """List a folder."""
        try:
            return sorted(os.listdir(path))
        except (OSError, ValueError):
            return []

    def real(self, path: str) -> str | None:
        """Follow links."""
        try:
            return os.path.realpath(path, strict=True)
        except (OSError, ValueError):
            return None

    def run(self, *words: str) -> str | None:
        """Run a command that only reads, once: a drive that hangs is not asked again."""
        if words not in self._answers:
            self._answers[words] = self._ask(words)
        return self._answers[words]

    def _ask(self, words: tuple[str, ...]) -> str | None:
        program = shutil.which(words[0], path=_path())
        if program is None:
            return None
        environment = {**os.environ, "LC_ALL": "C"}
        try:
            answer = answer_of([program, *words[1:]], self._timeout_s, environment=environment)
        except GaveUp as reason:
            self._gave_up[" ".join(words)] = str(reason)
            return None
        except (OSError, ValueError):
            return None
        return answer.decode(errors="replace").strip() or None

    def runs(self, name: str) -> bool | None:
        """Look through the processes, once."""
        if self._processes is None:
            numbers = [entry for entry in self.entries("/proc") if entry.isdigit()]
            names = (self.read(f"/proc/{number}/comm") for number in numbers)
            self._processes = {name for name in names if name}
        return name in self._processes if self._processes else None

    def files_of(self, place: str) -> FileSample | None:
        """Walk through it, for a bounded time."""
        return None if shutil.which("filefrag", path=_path()) is None else sample(place, self.run)

    def holds(self, folder: str) -> bool:
        """Look whether the folder is there."""
        return os.path.isdir(folder)

    def gave_up(self) -> dict[str, str]:
        """Give the commands that were given up."""
        return self._gave_up

    def unread(self, ask: Callable[[], object]) -> list[Unread]:
        """Give none: nothing was sent."""
        return []


def _path() -> str:
    return f"{os.environ.get('PATH', '')}:{_PATH}"


class RecordingSystem:
    """A system whose answers are kept, for a capture."""

    def __init__(self, system: System) -> None:
        self._system = system
        self.files: dict[str, str | None] = {}
        self.folders: dict[str, list[str]] = {}
        self.commands: dict[str, str | None] = {}
        self.links: dict[str, str | None] = {}
        self.running: dict[str, bool | None] = {}
        self.samples: dict[str, FileSample | None] = {}

    def read(self, path: str) -> str | None:
        """Read, and keep."""
        self.files[path] = self._system.read(path)
        return self.files[path]

    def entries(self, path: str) -> list[str]:
        """List, and keep."""
        self.folders[path] = self._system.entries(path)
        return self.folders[path]

    def real(self, path: str) -> str | None:
        """Follow links, and keep where they led."""
        self.links[path] = self._system.real(path)
        return self.links[path]

    def run(self, *words: str) -> str | None:
        """Run, and keep."""
        self.commands[" ".join(words)] = self._system.run(*words)
        return self.commands[" ".join(words)]

    def runs(self, name: str) -> bool | None:
        """Look, and keep what was asked alone: not which other processes there are."""
        self.running[name] = self._system.runs(name)
        return self.running[name]

    def files_of(self, place: str) -> FileSample | None:
        """Look, and keep."""
        self.samples[place] = self._system.files_of(place)
        return self.samples[place]

    def holds(self, folder: str) -> bool:
        """Look whether the folder is there."""
        return self._system.holds(folder)

    def gave_up(self) -> dict[str, str]:
        """Give the commands that were given up."""
        return self._system.gave_up()

    def unread(self, ask: Callable[[], object]) -> list[Unread]:
        """Give what was sent and is not understood."""
        return self._system.unread(ask)


class CapturedSystem:
    """A machine that was captured."""

    def __init__(
        self,
        files: dict[str, str | None],
        folders: dict[str, list[str]],
        commands: dict[str, str | None],
        gave_up: dict[str, str] | None = None,
        links: dict[str, str | None] | None = None,
        running: dict[str, bool] | None = None,
        samples: dict[str, FileSample] | None = None,
    ) -> None:
        self._files, self._folders, self._commands = files, folders, commands
        self._samples = samples or {}
        self._links, self._running = links or {}, running or {}
        self._gave_up = gave_up or {}

    def read(self, path: str) -> str | None:
        """Give what was read."""
        return self._files.get(path)

    def entries(self, path: str) -> list[str]:
        """Give what was listed."""
        return self._folders.get(path, [])

    def real(self, path: str) -> str | None:
        """Give where the link led; what was never asked is taken for no link."""
        return self._links.get(path, path)

    def run(self, *words: str) -> str | None:
        """Give what was printed."""
        return self._commands.get(" ".join(words))

    def runs(self, name: str) -> bool | None:
        """Give what was seen there."""
        return self._running.get(name)

    def files_of(self, place: str) -> FileSample | None:
        """Give what was looked at there."""
        return self._samples.get(place)

    def holds(self, folder: str) -> bool:
        """Look whether any file or folder below it could be read."""
        below = f"{folder}/"
        read = (path for path, text in self._files.items() if text is not None)
        listed = (path for path, names in self._folders.items() if names)
        return any(f"{path}/".startswith(below) for path in (*read, *listed))

    def gave_up(self) -> dict[str, str]:
        """Give the commands that were given up there."""
        return self._gave_up

    def unread(self, ask: Callable[[], object]) -> list[Unread]:
        """Give none: what was put together here holds more than is asked for."""
        return []


class OpenedCapture(CapturedSystem):
    """A capture that was read from a file: it knows what of it is asked for."""

    def __init__(self, parts: Mapping[str, object]) -> None:
        kept: dict[str, dict[str, object]] = {}
        self._unread = [
            Unread(key, _quoted(value), "a capture has no such part")
            for key, value in parts.items()
            if key not in (*_PARTS, *_MORE_PARTS)
        ]
        for name in (*_PARTS, *_MORE_PARTS):
            part = parts.get(name, {})
            kept[name] = part if isinstance(part, dict) else {}
            if part is not kept[name]:
                self._unread.append(Unread(name, _quoted(part), "an object was expected"))
        self._kept = kept
        self._asked: set[tuple[str, str]] = set()
        reasons = self._texts("gave_up")
        samples = {place: FileSample.from_data(data) for place, data in kept["samples"].items()}
        self._check_samples(samples)
        super().__init__(
            self._texts("files"),
            self._names(),
            self._texts("commands"),
            {words: reason for words, reason in reasons.items() if reason},
            self._texts("links"),
            self._truths(),
            {place: found for place, found in samples.items() if found is not None},
        )

    def read(self, path: str) -> str | None:
        """Give what was read."""
        self._asked.add(("files", path))
        return super().read(path)

    def entries(self, path: str) -> list[str]:
        """Give what was listed."""
        self._asked.add(("folders", path))
        return super().entries(path)

    def real(self, path: str) -> str | None:
        """Give where the link led."""
        self._asked.add(("links", path))
        return super().real(path)

    def run(self, *words: str) -> str | None:
        """Give what was printed."""
        self._asked.add(("commands", " ".join(words)))
        return super().run(*words)

    def runs(self, name: str) -> bool | None:
        """Give what was seen there."""
        self._asked.add(("running", name))
        return super().runs(name)

    def files_of(self, place: str) -> FileSample | None:
        """Give what was looked at there."""
        self._asked.add(("samples", place))
        return super().files_of(place)

    def unread(self, ask: Callable[[], object]) -> list[Unread]:
        """Give what has another form, and what was never asked for."""
        ask()
        left = [
            Unread(f"{name}, {key}", _quoted(value), _NEVER_ASKED)
            for name, part in self._kept.items()
            for key, value in part.items()
            # What was given up is told, whatever it is.
            if name != "gave_up" and (name, key) not in self._asked
        ]
        return [*self._unread, *left]

    def _texts(self, name: str) -> dict[str, str | None]:
        """Keep what is text; anything else is as if it could not be read."""
        part = self._kept[name]
        for key, value in part.items():
            if not (value is None or isinstance(value, str)):
                self._leave(name, key, value, "a text or null was expected")
        return {key: value if isinstance(value, str) else None for key, value in part.items()}

    def _truths(self) -> dict[str, bool]:
        part = self._kept["running"]
        for key, value in part.items():
            if not (value is None or isinstance(value, bool)):
                self._leave("running", key, value, "true, false or null was expected")
        return {key: seen for key, seen in part.items() if isinstance(seen, bool)}

    def _names(self) -> dict[str, list[str]]:
        kept = {}
        for folder, names in self._kept["folders"].items():
            listed = names if isinstance(names, list) else []
            kept[folder] = [name for name in listed if isinstance(name, str)]
            if kept[folder] != names:
                self._leave("folders", folder, names, "a list of names was expected")
        return kept

    def _check_samples(self, samples: dict[str, FileSample | None]) -> None:
        for place, data in self._kept["samples"].items():
            found = samples[place]
            if data is not None and (found is None or found.to_data() != data):
                self._leave("samples", place, data, "it has another form than a sample of files")

    def _leave(self, name: str, key: str, value: object, why: str) -> None:
        self._unread.append(Unread(f"{name}, {key}", _quoted(value), why))


def _quoted(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class FolderSystem:
    """A folder laid out like a root file system."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._live = LiveSystem()
        self._asked: set[str] = set()

    def _place(self, path: str) -> str:
        """Follow links as they lead on that machine, so never out of the folder."""
        waiting, links = path.split("/")[::-1], 0
        found: list[str] = []
        while waiting:
            name = waiting.pop()
            if name == "..":
                found = found[:-1]
            elif name not in ("", "."):
                found.append(name)
            place = self._root.joinpath(*found)
            if links < _MOST_LINKS and place.is_symlink():
                links += 1
                target = os.readlink(place)
                found = [] if target.startswith("/") else found[:-1]
                waiting += target.split("/")[::-1]
        return str(self._root.joinpath(*found))

    def read(self, path: str) -> str | None:
        """Read below the folder."""
        return self._live.read(self._place(path))

    def entries(self, path: str) -> list[str]:
        """List below the folder."""
        return self._live.entries(self._place(path))

    def real(self, path: str) -> str | None:
        """Follow links; a device, which no folder holds, is taken for no link."""
        found = self._place(path)[len(str(self._root)) :] or "/"
        is_here = (self._root / found.lstrip("/")).exists()
        return found if is_here or found.startswith("/dev/") else None

    def run(self, *words: str) -> str | None:
        """Read what the command printed."""
        name = " ".join(words).replace(" ", "_").replace("/", "+")
        self._asked.add(name)
        return self._live.read(str(self._root / "commands" / name))

    def runs(self, name: str) -> bool | None:
        """Give none: a folder has no processes."""
        return None

    def files_of(self, place: str) -> FileSample | None:
        """Give none: here the files lie on another file system."""
        return None

    def holds(self, folder: str) -> bool:
        """Look whether the folder is there."""
        return Path(self._place(folder)).is_dir()

    def gave_up(self) -> dict[str, str]:
        """Give none: nothing is run."""
        return {}

    def unread(self, ask: Callable[[], object]) -> list[Unread]:
        """Give answers of commands that nobody asks; a root file system may hold any files."""
        ask()
        folder = self._root / "commands"
        left = [each for each in self._live.entries(str(folder)) if each not in self._asked]
        texts = [(each, self._live.read(str(folder / each)) or "") for each in left]
        return [Unread(f"commands/{each}", text, _NEVER_ASKED) for each, text in texts]


def open_root(path: str) -> System:
    """Open a capture or a folder laid out like a root file system.

    Raises
    ------
    SsdlabError
        It is neither.
    """
    place = Path(path)
    if place.is_dir():
        if not (place / "sys").is_dir():
            raise SsdlabError(
                f"--root {path}: a folder without sys in it, so not laid out like a root file "
                f"system\n{_MAKE_ONE}"
            )
        return FolderSystem(place)
    written = b""
    try:
        written = _read_capture(place)
        content = json.loads(written)
    except OSError as error:
        raise SsdlabError(f"--root {path}: {error.strerror}") from None
    except (ValueError, RecursionError) as error:
        line = f"line {error.lineno}: " if isinstance(error, json.JSONDecodeError) else ""
        what = foreign.of_bytes(written) or foreign.of_text(written.decode("utf-8", "replace"))
        raise SsdlabError(
            f"--root {path}: {line}not a capture: it is {what}\n{_MAKE_ONE}"
        ) from None
    return _captured(content, path)


def _read_capture(place: Path) -> bytes:
    with place.open("rb") as file:
        content = file.read(_LONGEST_CAPTURE + 1)
    if len(content) > _LONGEST_CAPTURE:
        raise SsdlabError(f"--root {place}: more than {_LONGEST_CAPTURE >> 20} MiB; not a capture")
    return content


def _captured(content: object, path: str) -> CapturedSystem:
    parts = content if isinstance(content, dict) else {}
    missing = [key for key in _PARTS if not isinstance(parts.get(key), dict)]
    if missing:
        what = foreign.of_json(content) if len(missing) == len(_PARTS) else "a part of one"
        raise SsdlabError(
            f"--root {path}: not a capture: it is {what}, without {', '.join(missing)}\n{_MAKE_ONE}"
        )
    return OpenedCapture(parts)
