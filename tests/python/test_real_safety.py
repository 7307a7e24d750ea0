"""What is refused, tried on loop devices with each kind of content: nothing is written."""

from __future__ import annotations

import ast
import os
import struct
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import ssdlab
from loop_devices import MIB, SIZE, digest, loop_device, need, run
from ssdlab.bench.real import safety
from ssdlab.bench.real.claims import writers
from ssdlab.bench.real.node import find_node
from ssdlab.bench.real.safety import Permission, Refused, examine, permit
from ssdlab.ground.errors import SsdlabError

pytestmark = pytest.mark.end_to_end

Made = Callable[[Path], None]


def _tool(*words: str) -> Made:
    def make(file: Path) -> None:
        need(words[0])
        run(*words, str(file))

    return make


def _table(label: str) -> Made:
    def make(file: Path) -> None:
        need("sfdisk")
        run("sfdisk", "--quiet", str(file), given=f"label: {label}\nstart=2048, size=8192\n")

    return make


def _encrypted(kind: str) -> Made:
    def make(file: Path) -> None:
        need("cryptsetup")
        quick = ("--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000")
        words = ("cryptsetup", "luksFormat", "--batch-mode", "--type", kind, *quick)
        run(*words, str(file), "-", given="a passphrase")

    return make


def _put(file: Path, offset: int, content: bytes) -> None:
    with file.open("r+b") as opened:
        opened.seek(offset)
        opened.write(content)


def _array_member(file: Path) -> None:
    """Write what mdadm writes at 4 KiB: version 1.2's magic, and where the superblock is."""
    superblock = bytearray(4096)
    struct.pack_into("<II", superblock, 0, 0xA92B4EFC, 1)
    struct.pack_into("<Q", superblock, 144, 8)
    _put(file, 4096, bytes(superblock))


def _pool_member(file: Path) -> None:
    """Write the uberblocks of ZFS's four labels."""
    for label in (0, 256 << 10, SIZE - (512 << 10), SIZE - (256 << 10)):
        for number in range(128):
            place = label + (128 << 10) + (number << 10)
            _put(file, place, struct.pack("<QQ", 0x00BAB10C, 5000))


CONTENTS: dict[str, Made] = {
    "ext4": _tool("mkfs.ext4", "-q", "-F"),
    "xfs": _tool("mkfs.xfs", "-q", "-f"),
    "btrfs": _tool("mkfs.btrfs", "--quiet", "--force", "--mixed"),
    "swap": _tool("mkswap", "--quiet"),
    "crypto_LUKS 1": _encrypted("luks1"),
    "crypto_LUKS 2": _encrypted("luks2"),
    "linux_raid_member": _array_member,
    "zfs_member": _pool_member,
    "gpt": _table("gpt"),
    "dos": _table("dos"),
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    made = tmp_path / "drive.img"
    with made.open("wb") as opened:
        opened.truncate(SIZE)
    return made


def _size_for(name: str) -> int:
    """Give the size that the file system asks for at least."""
    return {"xfs": 320 * MIB, "btrfs": 128 * MIB}.get(name, SIZE)


@pytest.mark.parametrize("name", CONTENTS)
def test_content_has_to_be_named_again(tmp_path: Path, name: str) -> None:
    """Each kind of content refuses a device that is named once, and not one byte changes."""
    file = tmp_path / "drive.img"
    with file.open("wb") as opened:
        opened.truncate(_size_for(name))
    CONTENTS[name](file)
    with loop_device(file) as device:
        before = digest(file)
        with pytest.raises(Refused, match="not empty") as refused:
            permit(device, [device])
        assert name.split()[0] in [each.kind for each in examine(device).content]
        assert f"--destroy-content {device}" in str(refused.value)
        assert digest(file) == before
        permission, examined = permit(device, [device], [device])
        with permission:
            assert permission.given_up == tuple(examined.content) != ()
        assert digest(file) == before


def test_a_physical_volume_has_to_be_named_again(file: Path) -> None:
    """LVM's own tool marks the device; the mark is seen though no volume is active."""
    need("pvcreate", "pvremove")
    with loop_device(file) as device:
        run("pvcreate", "--quiet", "--yes", device)
        before = digest(file)
        with pytest.raises(Refused, match="physical volume of LVM"):
            permit(device, [device])
        assert digest(file) == before
        run("pvremove", "--quiet", "--yes", "--force", "--force", device)


def test_an_empty_device_has_to_be_named(file: Path) -> None:
    """Without a name, and with another's, nothing is given; by a link to it, it is."""
    with loop_device(file) as device, loop_device(file.with_name("other.img")) as other:
        for named in ([], [other], ["/dev/null"], ["/nowhere"], [str(file)]):
            with pytest.raises(Refused, match=f"--destroy {device}"):
                permit(device, named)
        link = file.with_name("link")
        link.symlink_to(device)
        permission, _ = permit(str(link), [device])
        with permission:
            assert permission.place == device
            assert permission.size_bytes == SIZE


def test_leave_to_destroy_content_is_not_leave_to_destroy(file: Path) -> None:
    """The second name alone gives nothing."""
    with loop_device(file) as device, pytest.raises(Refused, match="--destroy "):
        permit(device, [], [device])


@pytest.mark.parametrize("kind", ["ext4", "xfs", "btrfs"])
def test_a_mounted_device_is_refused(tmp_path: Path, kind: str) -> None:
    """However often it is named; unmounted it is refused for what it holds."""
    need("mount", f"mkfs.{kind}")
    file, place = tmp_path / "drive.img", tmp_path / "place with blanks"
    with file.open("wb") as opened:
        opened.truncate(_size_for(kind))
    CONTENTS[kind](file)
    place.mkdir()
    with loop_device(file) as device:
        mounted = subprocess.run(["mount", device, place], capture_output=True, check=False)
        if mounted.returncode != 0:
            pytest.skip(f"this kernel mounts no {kind}")
        try:
            with pytest.raises(Refused, match="in use") as refused:
                permit(device, [device], [device])
            assert f"mounted at {place}" in str(refused.value)
        finally:
            run("umount", str(place))
        with pytest.raises(Refused, match="not empty"):
            permit(device, [device])


def test_a_device_in_use_as_swap_is_refused(file: Path) -> None:
    """The kernel swaps to it, or says that it cannot."""
    need("mkswap", "swapon", "swapoff")
    with loop_device(file) as device:
        run("mkswap", "--quiet", device)
        if subprocess.run(["swapon", device], capture_output=True, check=False).returncode != 0:
            pytest.skip("this machine lets us use no swap")
        try:
            with pytest.raises(Refused, match="is swap"):
                permit(device, [device], [device])
        finally:
            run("swapoff", device)


def test_a_device_below_another_is_refused(file: Path) -> None:
    """A loop device over it holds nothing exclusively, and uses it all the same."""
    with loop_device(file) as device, loop_device(Path(device)) as upper:
        with pytest.raises(Refused, match=f"below {upper}|part of {upper}"):
            permit(device, [device], [device])
        permission, _ = permit(upper, [upper])
        permission.close()


def test_a_partition_is_seen_from_its_drive(tmp_path: Path) -> None:
    """What is on a partition, and what is mounted from it, refuses the drive."""
    need("sfdisk", "partx", "mkfs.ext4", "mount")
    file, place = tmp_path / "drive.img", tmp_path / "place"
    place.mkdir()
    with file.open("wb") as opened:
        opened.truncate(SIZE)
    _table("gpt")(file)
    with loop_device(file) as device:
        subprocess.run(["partx", "--add", device], capture_output=True, check=False)
        partition = f"{device}p1"
        if not Path(partition).exists():
            pytest.skip("this kernel shows no partitions of loop devices")
        try:
            run("mkfs.ext4", "-q", partition)
            with pytest.raises(Refused, match=f"{partition}: ext4"):
                permit(device, [device])
            run("mount", partition, str(place))
            try:
                for target in (device, partition):
                    with pytest.raises(Refused, match=f"{partition} is mounted at {place}"):
                        permit(target, [target], [target])
            finally:
                run("umount", str(place))
        finally:
            subprocess.run(["partx", "--delete", device], capture_output=True, check=False)


def test_a_read_only_device_is_refused(file: Path) -> None:
    """The kernel would refuse the writes; we do before anything is begun."""
    need("blockdev")
    with loop_device(file) as device:
        run("blockdev", "--setro", device)
        with pytest.raises(Refused, match="is read-only"):
            permit(device, [device])
        run("blockdev", "--setrw", device)


def test_a_device_that_another_holds_is_refused(file: Path) -> None:
    """Exclusively: the kernel says so. For writing: the process is named."""
    with loop_device(file) as device:
        holder = os.open(device, os.O_RDONLY | os.O_EXCL)
        try:
            with pytest.raises(Refused, match="cannot be opened exclusively"):
                permit(device, [device])
        finally:
            os.close(holder)
        other = subprocess.Popen(["sleep", "600"], stdout=os.open(device, os.O_WRONLY))
        try:
            with pytest.raises(Refused, match=rf"process {other.pid} \(sleep\)"):
                permit(device, [device])
        finally:
            other.kill()
            other.wait()


def test_nobody_can_mount_it_while_it_is_held(tmp_path: Path, file: Path) -> None:
    """The kernel grants one holder; when permission is given back, another may have it."""
    need("mkfs.ext4", "mount")
    CONTENTS["ext4"](file)
    with loop_device(file) as device:
        permission, _ = permit(device, [device], [device])
        words = ["mount", device, str(tmp_path)]
        assert subprocess.run(words, capture_output=True, check=False).returncode != 0
        with pytest.raises(Refused, match="exclusively"):
            permit(device, [device], [device])
        permission.close()
        with pytest.raises(Refused, match="given back"):
            permission.check()


def test_the_root_of_this_machine_is_refused() -> None:
    """The device under / of this very machine, where there is one."""
    number = os.stat("/").st_dev
    folder = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}")
    path = f"/dev/{folder.resolve().name}"
    if not Path(path).is_block_device():
        pytest.skip("the root file system of this machine is on no block device")
    with pytest.raises(Refused, match="below the root file system"):
        permit(path, [path], [path])


def test_who_may_not_tell_is_refused(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the tool that knows signatures a device counts as full, not as empty."""
    with loop_device(file) as device, monkeypatch.context() as patched:
        patched.setenv("PATH", "/nowhere")
        with pytest.raises(SsdlabError, match="wipefs was not found"):
            permit(device, [device], [device])


def test_what_is_no_block_device_is_refused(file: Path) -> None:
    """A file, a folder, a character device, nothing."""
    for path in (str(file), "/tmp", "/dev/null", "/nowhere"):
        with pytest.raises(SsdlabError, match="lsblk"):
            permit(path, [path], [path])


def test_who_it_is_comes_first(file: Path) -> None:
    """Model, serial number and size are shown before the refusal."""
    shown: list[str] = []
    with loop_device(file) as device:
        with pytest.raises(Refused):
            permit(device, [], show=shown.extend)
    text = "\n".join(shown)
    assert device in text and str(file) in text and str(SIZE) in text
    assert "serial number" in text


def test_only_the_module_itself_gives_leave() -> None:
    """A permission cannot be made elsewhere: not by calling it, nor by naming its key."""
    with pytest.raises(TypeError, match="permit alone"):
        Permission(object(), "/dev/null", "1:3", None, 0)
    for path in Path(ssdlab.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        names = {each.id for each in ast.walk(tree) if isinstance(each, ast.Name)}
        names |= {each.attr for each in ast.walk(tree) if isinstance(each, ast.Attribute)}
        assert ("_KEY" in names) == (path.name == "safety.py"), path


def test_a_node_that_became_another_device_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Just before something is destroyed, the number is looked at again."""
    with loop_device(file) as device:
        permission, _ = permit(device, [device])
        with permission:
            monkeypatch.setattr(safety, "number_of", lambda _path: "8:0")
            with pytest.raises(Refused, match="is device 8:0 by now"):
                permission.check()


def test_processes_are_told_apart(file: Path) -> None:
    """Our own process does not count, and neither does one that has another device open."""
    with loop_device(file) as device:
        node = find_node(device)

        def links() -> Iterator[tuple[int, str]]:
            yield os.getpid(), device
            yield 1, "/dev/other"

        assert writers(node, links) == []
