"""What to type on Windows. Read up on learn.microsoft.com, not carried out.

diskpart counts offset and alignment in KiB and sizes in whole MiB. Left out: VeraCrypt's volumes,
which are made in its own window, and Storage Spaces.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ssdlab.machine.align.layout import UNNAMED, Crypt, FileSystem, Layer, Partition
from ssdlab.machine.align.tools import LayoutPlan, Lines, not_made, windows_number

_FORMATS = {UNNAMED: "ntfs", "ntfs": "ntfs", "fat": "fat32"}
_KIB, _MIB = 2**10, 2**20
_LETTER = "X"


def lines(wanted: LayoutPlan) -> Iterator[Lines]:
    """Give the lines for every layer; BitLocker's come last, since it encrypts what is formatted.

    Raises
    ------
    NotMade
        Windows has no command for a layer, or cannot begin where it should.
    """
    partition, crypt, top = _sorted(wanted.layers)
    number = windows_number(wanted.devices[0]) if wanted.devices else "N"
    table = ("convert gpt",) if wanted.new else ()
    typed = [f"select disk {number}", *table, _create(wanted, partition)]
    if top is not None:
        typed.append(f"format fs={_FORMATS[top.type]} quick")
    if crypt is not None:
        typed.append(f"assign letter={_LETTER}")
    typed.append("detail partition")
    note = (
        "offset and align in KiB, size in whole MiB; detail partition shows the offset in bytes; "
        "since Vista, Windows begins at 1 MiB by itself"
    )
    source = "learn.microsoft.com: create partition primary, format"
    yield Lines("diskpart", "Windows Vista and later", source, tuple(typed), note, tried=False)
    if crypt is not None:
        line = f"manage-bde -on {_LETTER}:"
        source = "learn.microsoft.com: manage-bde on"
        yield Lines("manage-bde", "Windows Vista and later", source, (line,), tried=False)


def _sorted(layers: Sequence[Layer]) -> tuple[Partition, Crypt | None, FileSystem | None]:
    partition: Partition | None = None
    crypt: Crypt | None = None
    top: FileSystem | None = None
    for layer in layers:
        if isinstance(layer, Partition) and layer.kind != "label" and partition is None:
            partition = layer
        elif isinstance(layer, Crypt) and layer.format == "bitlocker" and partition is not None:
            crypt = layer
        elif isinstance(layer, FileSystem) and layer.type in _FORMATS and partition is not None:
            top = layer
        else:
            raise not_made("windows", layer, "it has partition, BitLocker, and ntfs or fat on top")
    if partition is None:
        raise not_made("windows", layers[0], "diskpart needs a partition")
    if crypt is not None and top is None:
        raise not_made("windows", crypt, "it encrypts a formatted volume; add filesystem:type=ntfs")
    return partition, crypt, top


def _create(wanted: LayoutPlan, layer: Partition) -> str:
    if layer.start % _KIB:
        start = layer.start // wanted.sector_bytes
        raise not_made("windows", layer, f"diskpart counts in KiB and cannot begin at {start}s")
    if layer.size is not None and layer.size < _MIB:
        raise not_made(
            "windows", layer, "diskpart counts in whole MiB; give a size of 1MiB or more"
        )
    size = "" if layer.size is None else f" size={layer.size // _MIB}"
    # What the offset is a multiple of: a larger one would move it.
    step = max(wanted.judged_step(layer) // _KIB, 1)
    return f"create partition primary{size} offset={layer.start // _KIB} align={step}"
