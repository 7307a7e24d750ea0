"""In how many pieces do files lie? The largest and oldest ones of each file system, by filefrag.

A file that is read in order costs at least a request an extent. An SSD does not feel it while
extents are larger than what the kernel reads ahead (128 KiB by default); a hard disk moves its
heads for each, which takes as long as reading a mebibyte (10 ms at 100 MB/s). Judged is the mean
extent of all files that were looked at.

filefrag counts a piece where one does not follow the other on the medium. Left out: files of less
than a mebibyte. Extents of a compressed btrfs are 128 KiB long by its design, and are not held
against it.
"""

from __future__ import annotations

from collections.abc import Iterator

from ssdlab.ground import text
from ssdlab.machine.audit.finding import Finding, Machine, Severity, not_looked_at
from ssdlab.machine.audit.remedy import Remedy
from ssdlab.real.device import Use
from ssdlab.real.sampled_files import FileSample, SampledFile

_READ_AHEAD_BYTES = 128 << 10
_SEEK_BYTES = 1 << 20
_DEFRAGMENTS = {
    "ext4": ("e4defrag {}",),
    "xfs": ("xfs_fsr -v {}",),
    "btrfs": ("btrfs filesystem defragment -r {}",),
}
_COPIES = {"btrfs": "files that snapshots share are copied, and take their space once more"}
_SOURCE = "filefrag(8); Linux, Documentation/ABI/stable/sysfs-block (read_ahead_kb)"


def check(machine: Machine) -> Iterator[Finding]:
    """Check each file system that is asked about, once however often it is mounted."""
    done = set()
    for use in machine.topology.uses:
        if use.device not in machine.chosen or use.kind not in _DEFRAGMENTS:
            continue
        if machine.topology.is_hidden(use):
            continue
        if use.device not in done:
            done.add(use.device)
            yield _one(machine, use)


def _one(machine: Machine, use: Use) -> Finding:
    sample = machine.system.files_of(use.place)
    if sample is None:
        return not_looked_at("extents", "filefrag (e2fsprogs) was not run here", use.place)
    if not sample.files:
        because = (
            f"of {sample.seen} files of a mebibyte or more filefrag told nothing"
            if sample.seen
            else "no file of a mebibyte or more was seen"
        )
        return not_looked_at("extents", because, use.place)
    mean = sum(each.size_bytes for each in sample.files) / sum(map(_count, sample.files))
    limit = _SEEK_BYTES if _is_on_disk(machine, use) else _READ_AHEAD_BYTES
    told = f"{_told(sample)} of {text.size(mean)} on average"
    if mean >= limit:
        return Finding("extents", Severity.GREEN, told, use.place)
    worst = max(sample.files, key=lambda each: each.extents)
    return Finding(
        "extents",
        Severity.YELLOW,
        f"{told}; {worst.path} of {text.size(worst.size_bytes)} lies in {worst.extents} of them",
        use.place,
        f"reading in order takes a request for each extent, and those are below {text.size(limit)}",
        _remedy(use),
        _SOURCE,
    )


def _count(file: SampledFile) -> int:
    # A hole or data in the inode have none.
    return max(1, file.extents)


def _told(sample: FileSample) -> str:
    seen = f"{sample.seen} files"
    if not sample.is_whole:
        seen = f"the {seen} that were reached"
    extents = sum(map(_count, sample.files))
    return f"the {len(sample.files)} largest and oldest of {seen} lie in {extents} extents"


def _is_on_disk(machine: Machine, use: Use) -> bool:
    """Whether a hard disk is among what is below it."""
    return any(map(machine.is_disk, machine.topology.drives(use.device)))


def _remedy(use: Use) -> Remedy:
    return Remedy(
        does="writes the files anew, in fewer pieces",
        risk="it writes all of them once, which wears an SSD and takes the drive's time",
        undo="none is needed",
        steps=tuple(each.format(use.word) for each in _DEFRAGMENTS[use.kind]),
        costs=_COPIES.get(use.kind, ""),
    )
