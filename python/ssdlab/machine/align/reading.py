"""Layouts as people write them: on the command line, in TOML or in JSON.

One linear list of layers, bottom up: ``--layer partition:start_sector=63 --layer lvm``, or
``[[layer]]`` tables with a ``kind``. A size has its unit in the value (``start = "1MiB"``) or in
the key (``start_sector = 63``, ``chunk_bytes = 65536``).
"""

from __future__ import annotations

import codecs
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ssdlab.ground.errors import SsdlabError
from ssdlab.ground.input import InputError, read_bytes
from ssdlab.machine.align.given import Given, hint
from ssdlab.machine.align.layout import (
    STRIPED,
    UNNAMED,
    Array,
    Crypt,
    FileSystem,
    Layer,
    Layout,
    Partition,
    PhysicalVolume,
    first_extent,
    luks1_payload,
)
from ssdlab.machine.align.listings import KNOWN
from ssdlab.machine.align.listings.foreign import of_bytes, of_text
from ssdlab.machine.align.notation import Geometry

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LARGEST_FILE_BYTES = 2**20
_SHOWN_SIGNS = 60
_GIVE = (
    "give a layout (TOML or JSON), --layer options, or, for check, a listing (fdisk -l and others)"
)
FILE_SYSTEMS = ("ext4", "xfs", "btrfs", "ntfs", "ufs", "zfs", "f2fs", "fat", "swap")
CRYPT_FORMATS = ("luks2", "luks1", "plain", "veracrypt", "truecrypt", "bitlocker")
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_PAYLOADS = {
    "luks2": 16 * 2**20,
    "plain": 0,
    "bitlocker": 0,
    "veracrypt": 128 * 2**10,
    "truecrypt": 128 * 2**10,
}
_FEWEST_DISKS = {"0": 2, "1": 2, "4": 3, "5": 3, "6": 4, "10": 4}


def _partition(given: Given) -> Partition:
    size = given.size("size", least=512) if given.has("size") else None
    return Partition(given.size("start"), size)


def _label(given: Given) -> Partition:
    return Partition(given.size("start"), kind="label")


def _crypt(given: Given) -> Crypt:
    form = given.word("format", "luks2", CRYPT_FORMATS)
    if form == "luks1" and not given.has("payload"):
        key_bits = given.count("key_bits", 512, 64, 1024)
        align = given.count("align_payload", 2048, 1, 2**30)
        return Crypt(luks1_payload(key_bits, align), form)
    given.refuse(("key_bits", "align_payload"), "they are for format=luks1 without payload")
    return Crypt(given.size("payload", _PAYLOADS.get(form)), form)


def _lvm(given: Given) -> PhysicalVolume:
    if given.has("pe_start"):
        given.refuse(("metadatasize", "data_alignment"), "pe_start is given")
    alignment = given.size("data_alignment", 2**20, least=512)
    metadata = given.size("metadatasize", 0)
    start = first_extent(metadata, alignment)
    extent = given.size("extent", 4 * 2**20, least=512)
    return PhysicalVolume(given.size("pe_start", start), extent, metadata)


def _raid(given: Given) -> Array:
    level = given.word("level", None, tuple(_FEWEST_DISKS))
    fewest = _FEWEST_DISKS[level]
    disks = given.count("disks", fewest, fewest, 1024)
    if level == "10" and disks % 2:
        raise SsdlabError(
            f"{given.place}: RAID 10 of {disks} disks is not covered; give an even number"
        )
    if level == "1":
        given.refuse(("chunk",), "RAID 1 has none")
    chunk = given.size("chunk", 512 * 2**10, least=512)
    return Array(level, disks, chunk, given.size("data_offset", 128 * 2**20))


def _filesystem(given: Given) -> FileSystem:
    unit = given.size("stripe_unit", least=512) if given.has("stripe_unit") else None
    width = given.size("stripe_width", least=512) if given.has("stripe_width") else None
    kind = given.word("type", UNNAMED, FILE_SYSTEMS)
    if kind != "zfs":
        given.refuse(("ashift",), "it is for type=zfs")
    ashift = given.count("ashift", 0, 9, 16) if given.has("ashift") else None
    return FileSystem(kind, unit, width, ashift)


@dataclass(frozen=True)
class _Kind:
    """How a kind of layer is read, and the keys it has."""

    read: Callable[[Given], Layer]
    sizes: tuple[str, ...]
    words: tuple[str, ...] = ()


_KINDS = {
    "partition": _Kind(_partition, ("start", "size")),
    "label": _Kind(_label, ("start",)),
    "crypt": _Kind(_crypt, ("payload",), ("format", "key_bits", "align_payload")),
    "lvm": _Kind(_lvm, ("pe_start", "metadatasize", "data_alignment", "extent")),
    "raid": _Kind(_raid, ("chunk", "data_offset"), ("level", "disks")),
    "filesystem": _Kind(_filesystem, ("stripe_unit", "stripe_width"), ("type", "ashift")),
}


def kinds() -> dict[str, tuple[str, ...]]:
    """Return the kinds of layers, each with its keys."""
    return {name: (*kind.sizes, *kind.words) for name, kind in _KINDS.items()}


def _layer(kind: str, values: Mapping[str, Any], place: str, geometry: Geometry) -> Layer:
    if kind not in _KINDS:
        known = hint(kind, tuple(_KINDS))
        raise SsdlabError(f"{place}: unknown kind of layer {kind!r}; {known}")
    found = _KINDS[kind]
    return found.read(Given(values, found.sizes, found.words, place, geometry))


def _layout(layers: Sequence[Layer], geometry: Geometry, drive: str | None, place: str) -> Layout:
    if not layers:
        raise SsdlabError(f"{place}: no layers; describe them, such as partition:start_sector=63")
    for below, above in zip(layers, layers[1:], strict=False):
        if isinstance(below, FileSystem):
            raise SsdlabError(
                f"{place}: {above.kind} above the file system {below.name}; list layers bottom up"
            )
    striped = [each for each in layers if isinstance(each, Array) and each.level in STRIPED]
    if len(striped) > 1:
        raise SsdlabError(f"{place}: two striped arrays on each other are not covered; give one")
    return Layout(tuple(layers), geometry, drive)


def from_options(options: Sequence[str], geometry: Geometry) -> Layout:
    """Read a layout from ``KIND:KEY=VALUE,…``, the lowest layer first.

    Raises
    ------
    SsdlabError
        A kind, key or value is unknown, or the layers do not make a stack.

    Examples
    --------
    >>> from_options(["partition:start_sector=63", "lvm"], Geometry()).layers[0].start
    32256
    """
    layers = []
    for option in options:
        kind, _, rest = option.partition(":")
        place = f"--layer {option}"
        pairs = [pair.partition("=") for pair in rest.split(",") if pair]
        if any(not equals or not key or not value for key, equals, value in pairs):
            raise SsdlabError(f"{place}: expected KIND:KEY=VALUE,KEY=VALUE")
        values = {key.strip(): value.strip() for key, _, value in pairs}
        if len(values) < len(pairs):
            raise SsdlabError(f"{place}: a key is given twice")
        layers.append(_layer(kind.strip(), values, place, geometry))
    return _layout(layers, geometry, None, "--layer")


def text_of(path: str) -> str:
    """Read a layout's file, or a listing's; ``-`` is standard input.

    PowerShell writes UTF-16, and Windows' older tools the letters of their code page, of which
    only the ASCII ones matter here.

    Raises
    ------
    SsdlabError
        It cannot be read, or is no text.
    """
    called = "standard input" if path == "-" else path
    try:
        content = read_bytes(path, LARGEST_FILE_BYTES)
    except (FileNotFoundError, InputError) as error:
        reason = getattr(error, "strerror", None) or error
        raise SsdlabError(f"layout {called}: cannot be read: {reason}\n{_GIVE}") from None
    for mark, encoding in _MARKS.items():
        if content.startswith(mark):
            return content.decode(encoding, errors="replace")
    found = of_bytes(content)
    if found is not None or b"\0" in content:
        what = f"it is {found.what}" if found else "it has bytes of 0 in it"
        instead = f"{found.instead}; or " if found and found.instead else ""
        raise SsdlabError(f"layout {called}: byte 0: not a text file: {what}\n{instead}{_GIVE}")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def _neither(text: str, name: str, error: Exception) -> str:
    """Say what a text is, or at least how it begins, and what is expected."""
    found = of_text(text)
    numbered = enumerate(text.splitlines(), 1)
    number, first = next((each for each in numbered if each[1].strip()), (1, ""))
    shown = " ".join(first.split())[:_SHOWN_SIGNS]
    place = f"line {number}" + (f": “{shown}”" if shown else "")
    if found is not None:
        instead = f"{found.instead}; or " if found.instead else ""
        return f"layout {name}: {place}: this is {found.what}\n{instead}{_GIVE}"
    return (
        f"layout {name}: {place}: neither TOML nor JSON: {error}\nnor a listing of {KNOWN}\n{_GIVE}"
    )


def from_text(text: str, name: str, geometry: Geometry) -> Layout:
    """Read a layout from TOML, or from JSON where the text begins with a brace."""
    if not text.strip():
        raise SsdlabError(_neither(text, name, ValueError("it has no layers")))
    try:
        root = json.loads(text) if text.lstrip().startswith("{") else tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise SsdlabError(_neither(text, name, error)) from None
    for key in root if isinstance(root, dict) else ():
        if key not in ("drive", "layer"):
            known = of_text(text)
            what = f"; it is {known.what}: {known.instead or _GIVE}" if known else ""
            raise SsdlabError(f"layout {name}: unknown key {key}; known: drive, layer{what}")
    drive, tables = root.get("drive"), root.get("layer", [])
    if not (drive is None or isinstance(drive, str)):
        raise SsdlabError(
            f"layout {name}: drive: {drive!r} is not a name; list them: ssdlab drives"
        )
    if not isinstance(tables, list) or not all(isinstance(each, dict) for each in tables):
        raise SsdlabError(f"layout {name}: layer: expected a list of tables, [[layer]] in TOML")
    layers = []
    for number, table in enumerate(tables, 1):
        values = {key: value for key, value in table.items() if key != "kind"}
        place = f"layout {name}: layer {number}"
        layers.append(_layer(str(table.get("kind")), values, place, geometry))
    return _layout(layers, geometry, drive, f"layout {name}")
