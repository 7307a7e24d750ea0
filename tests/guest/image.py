"""A guest's file system in memory, made of this machine's own programs and a Debian kernel.

The kernel comes from Debian's package archive (downloaded once, kept by version, unpacked without
being installed); programs, their libraries and Python's standard library are copied from here, the
modules compiled, which takes an emulated processor long. Nothing needs root.
"""

from __future__ import annotations

import compileall
import fcntl
import lzma
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PROGRAMS = (
    "bash btrfs cat chmod cp cryptsetup dd dmsetup echo env filefrag fstrim grep head insmod "
    "integritysetup kill ln losetup ls lvm make-bcache mdadm mkdir mkfs.btrfs mkfs.ext4 mkfs.xfs "
    "mknod mkswap mount rm rmmod sed sfdisk sleep stat sync swapoff swapon touch true truncate "
    "umount veritysetup lsblk poweroff"
).split()
LVM_NAMES = (
    "lvchange lvconvert lvcreate lvremove lvs pvcreate pvmove pvremove pvs vgchange vgcreate "
    "vgextend vgreduce vgremove"
).split()
MODULES = (
    "virtio_pci virtio_blk raid0 raid1 raid10 raid456 dm-mod dm-crypt dm-thin-pool dm-mirror bfq "
    "xts aes_generic ecb cbc sha256_generic algif_skcipher algif_hash af_alg crc32c_generic "
    "dm-raid dm-cache dm-cache-smq dm-writecache dm-integrity dm-verity dm-multipath "
    "dm-round-robin loop btrfs bcache xfs virtio_net nvme-tcp"
).split()
THIN_CHECKERS = ("pdata_tools", "thin_check")
"""What checks a thin pool, where it is installed."""
HERE = Path(__file__).parent
PACKAGE = HERE.parent.parent / "python" / "ssdlab"
_KERNEL_PACKAGE = "linux-image-cloud-amd64"
_DOWNLOAD_S = 180


class Missing(Exception):
    """Something that the guest needs is not here; the message says what brings it."""


@dataclass(frozen=True)
class Kernel:
    """A kernel that was unpacked.

    Attributes
    ----------
    image
        What is booted.
    modules
        Folder of its modules.
    """

    image: Path
    modules: Path


def cache_folder() -> Path:
    """Give where kernels are kept."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    folder = Path(base) / "ssdlab-guest"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fetch_kernel() -> Kernel:
    """Download and unpack the kernel, unless it is here.

    Raises
    ------
    Missing
        There is no apt, or it cannot reach Debian's archive, and no kernel was kept.
    """
    try:
        # Guests that start at the same time download it once.
        with (cache_folder() / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            folder = _newest()
    except Missing:
        kept = [each for each in cache_folder().glob("linux-image-*") if each.suffix != ".part"]
        if not kept:
            raise
        folder = max(kept, key=os.path.getmtime)
    image = next((folder / "boot").glob("vmlinuz-*"))
    return Kernel(image, next((folder / "lib" / "modules").iterdir()))


def _newest() -> Path:
    """Give the folder of the kernel that apt would install."""
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise Missing("no apt-get: the guest's kernel is a Debian package")
    depends = _output("apt-cache", "depends", _KERNEL_PACKAGE)
    found = re.search(r"Depends: (linux-image-\S+)", depends)
    if found is None:
        raise Missing(f"{_KERNEL_PACKAGE} is not known to apt: run apt-get update")
    folder = cache_folder() / f"{found[1]}-{_version(found[1])}"
    if not folder.exists():
        _unpack(found[1], folder)
    return folder


def _version(package: str) -> str:
    found = re.search(r"Candidate: (\S+)", _output("apt-cache", "policy", package))
    return found[1].replace(":", "_") if found else "unknown"


def _unpack(package: str, folder: Path) -> None:
    partial = folder.with_suffix(".part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    try:
        _run("apt-get", "download", package, cwd=partial)
        _run("dpkg-deb", "-x", str(next(partial.glob("*.deb"))), str(partial))
    except (subprocess.SubprocessError, StopIteration):
        raise Missing(f"{package} cannot be downloaded: run apt-get update") from None
    partial.rename(folder)


def _run(*words: str, cwd: Path | None = None) -> None:
    subprocess.run(words, cwd=cwd, check=True, capture_output=True, timeout=_DOWNLOAD_S)


def _output(*words: str) -> str:
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout


def build(
    kernel: Kernel,
    folder: Path,
    files: Iterable[tuple[Path, str]],
    programs: Iterable[str] = (),
    modules: Iterable[str] = (),
) -> Path:
    """Make the initial RAM file system: what all guests have, and what this one has beside it.

    Parameters
    ----------
    kernel
        Whose modules go in.
    folder
        Where to work; what all guests have is kept in the folder that it is in.
    files
        Files and folders to add, each with its place in the guest.
    programs
        Programs beside the usual ones.
    modules
        Modules beside the usual ones.

    Raises
    ------
    Missing
        A program is not installed.
    """
    root = folder / "root"
    (root / "bin").mkdir(parents=True)
    _add_programs(root, programs)
    order = module_order(kernel, [*MODULES, *modules])
    _add_modules(root, order, in_base=len(_usual(kernel)))
    _add_files(root, files)
    target = folder / "initrd"
    # The kernel unpacks one archive after the other.
    with target.open("wb") as file:
        for part in (_base(kernel, folder.parent), _pack(root, folder / "own")):
            with part.open("rb") as content:
                shutil.copyfileobj(content, file)
    return target


@cache
def _base(kernel: Kernel, folder: Path) -> Path:
    """Pack what all guests have: the usual programs and modules, Python, the package, init."""
    root = folder / "base"
    for name in ("bin", "dev", "etc", "mnt", "proc", "run", "sys", "tmp", "var", "run/lock"):
        (root / name).mkdir(parents=True, exist_ok=True)
    for link in ("sbin", "usr/bin", "usr/sbin"):
        (root / link).parent.mkdir(parents=True, exist_ok=True)
        (root / link).symlink_to("/bin")
    _add_programs(root, [*PROGRAMS, *filter(_place, THIN_CHECKERS)])
    (root / "bin/sh").symlink_to("bash")
    for name in LVM_NAMES:
        (root / "bin" / name).symlink_to("lvm")
    _add_python(root)
    _add_modules(root, _usual(kernel))
    _add_files(root, [(HERE / "init", "/init"), (PACKAGE, "/guest/ssdlab")])
    return _pack(root, folder / "base.cpio")


@cache
def _usual(kernel: Kernel) -> list[Path]:
    return module_order(kernel, MODULES)


def _add_files(root: Path, files: Iterable[tuple[Path, str]]) -> None:
    for source, place in files:
        _copy(source, root / place.lstrip("/"))
    compileall.compile_dir(root / "guest", quiet=1, stripdir=root, prependdir="/")


def _add_programs(root: Path, names: Iterable[str]) -> None:
    found = {name: _place(name) for name in names}
    missing = [name for name, place in found.items() if place is None]
    if missing:
        raise Missing(f"not installed: {' '.join(missing)}: run scripts/install-tools.sh")
    for name, place in found.items():
        if place is not None:
            _add_binary(root, Path(place), f"bin/{name}")


def _place(program: str) -> str | None:
    return shutil.which(program, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin")


def _add_binary(root: Path, source: Path, place: str) -> None:
    _copy(source.resolve(), root / place)
    for library in re.findall(r"(/\S+)\s+\(0x", _output("ldd", str(source))):
        target = root / library.lstrip("/")
        if not target.exists():
            _copy(Path(library).resolve(), target)


def _add_python(root: Path) -> None:
    executable = Path(sys.executable).resolve()
    _add_binary(root, executable, "bin/python3")
    library = Path(sysconfig.get_path("stdlib"))
    target = root / str(library).lstrip("/")
    ignored = shutil.ignore_patterns(
        "test", "tests", "idlelib", "tkinter", "site-packages", "dist-packages", "config-*",
        "*.opt-*.pyc", "ensurepip", "lib2to3", "turtledemo", "pydoc_data",
    )  # fmt: skip
    shutil.copytree(library, target, ignore=ignored)
    for module in (target / "lib-dynload").glob("*.so"):
        source = library / "lib-dynload" / module.name
        for needed in re.findall(r"(/\S+)\s+\(0x", _output("ldd", str(source))):
            if not (root / needed.lstrip("/")).exists():
                _copy(Path(needed).resolve(), root / needed.lstrip("/"))
    # Where Python looks for its library follows from where its program lies.
    home = root / str(executable).lstrip("/")
    if not home.exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        home.symlink_to("/bin/python3")
    (root / "etc" / "python").write_text(str(executable), encoding="utf-8")


def _add_modules(root: Path, order: list[Path], in_base: int = 0) -> None:
    """Copy modules but for the first, named so that they are loaded in this order."""
    folder = root / "modules"
    folder.mkdir()
    for number, module in list(enumerate(order))[in_base:]:
        name = module.name.removesuffix(".xz")
        (folder / f"{number:03}-{name}").write_bytes(_module_bytes(module))


def module_order(kernel: Kernel, wanted: Iterable[str]) -> list[Path]:
    """Give modules with all they depend on, each after what it needs.

    Built-in ones are left out. What depends on what is in the modules themselves (``depends=``).
    """
    files = {
        path.name.partition(".")[0].replace("-", "_"): path
        for path in kernel.modules.rglob("*.ko*")
        if path.suffix in (".ko", ".xz")
    }
    order: list[Path] = []

    def add(name: str) -> None:
        path = files.get(name.replace("-", "_"))
        if path is None or path in order:
            return
        found = re.search(rb"\0depends=([^\0]*)", _module_bytes(path))
        for needed in (found[1].decode() if found else "").split(","):
            add(needed)
        order.append(path)

    for name in wanted:
        add(name)
    return order


def _module_bytes(path: Path) -> bytes:
    """Read a module; newer kernels' are compressed."""
    content = path.read_bytes()
    return lzma.decompress(content) if path.suffix == ".xz" else content


def _copy(source: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.is_dir():
        shutil.copytree(source, target, ignore=shutil.ignore_patterns("*.so"))
    else:
        shutil.copy2(source, target)


def _pack(root: Path, target: Path) -> Path:
    names = subprocess.run(["find", "."], cwd=root, capture_output=True, check=True).stdout
    with target.open("wb") as file:
        subprocess.run(
            ["cpio", "--create", "--format=newc", "--quiet", "--owner=0:0"],
            cwd=root, input=names, stdout=file, check=True,
        )  # fmt: skip
    return target
