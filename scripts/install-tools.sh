#!/usr/bin/env bash
# Installs the Debian packages that slow tests and tools use beside what `make install` brings;
# without root it prints the command that does. Without them those tests are skipped and say so.
set -euo pipefail

packages=(
    fio # beside our own runs: the same job on a real device or file
    nbdkit # exports of known delay and rate for fio
    libnbd-bin # with qemu-utils: strangers that our own server of drives has to answer
    qemu-utils
    nvme-cli # formats the guest's NVMe drive, and switches its write cache
    hdparm
    smartmontools
    zstd # packs the traces of tests
    strace # whether a file is synced before it is renamed
    fio-examples # fio's own jobs, which run here too
    postgresql # with git and xfsprogs: programs on a drive whose power is cut
    git
    valgrind # counts instructions for `make bench`
    # the guest of `make test-guest`: an emulator, and what builds layouts inside it
    qemu-system-x86
    seabios
    cpio
    kmod
    fdisk
    mdadm
    lvm2
    dmsetup
    cryptsetup-bin
    thin-provisioning-tools
    e2fsprogs
    btrfs-progs
    xfsprogs
    bcache-tools
    # what opens our pages and prints them, and what reads the print
    chromium
    poppler-utils
    # what reads our completion scripts and our manual page
    zsh
    fish
    groff-base
)

missing=()
for package in "${packages[@]}"; do
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null | grep -q '^install ok' || missing+=("$package")
done

if [ ${#missing[@]} -eq 0 ]; then
    echo "all there: ${packages[*]}"
elif [ "$(id -u)" -eq 0 ]; then
    # Another installation may be under way: wait for it. Without a network, give up soon.
    export DEBIAN_FRONTEND=noninteractive
    options=(-qq -o DPkg::Lock::Timeout=300 -o Acquire::http::Timeout=20 -o Acquire::Retries=1)
    apt-get "${options[@]}" update
    apt-get "${options[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
    echo "installed: ${missing[*]}"
else
    echo "run as root: apt-get install --no-install-recommends ${missing[*]}"
    exit 1
fi
