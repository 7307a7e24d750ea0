#!/usr/bin/env bash
# Unpacks the fio of a release of Debian (stable, or unstable for the newest) with its libraries into
# FOLDER, where it disturbs nothing, and leaves a command bin/fio there. Needs apt, but no root.
set -euo pipefail

if [ $# -ne 2 ]; then
    echo "usage: scripts/debian-fio.sh RELEASE FOLDER" >&2
    exit 2
fi
release=$1
folder=$(realpath --canonicalize-missing "$2")
mirror=$(apt-get indextargets --format '$(ORIGIN) $(LABEL) $(REPO_URI)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 == "Debian" { print $3; exit }')
if [ -z "$mirror" ]; then
    echo "debian-fio: apt knows no mirror of Debian; run 'apt-get update' once as root" >&2
    exit 1
fi

apt=$folder/apt
mkdir -p "$apt"/etc/apt/{apt.conf,preferences,sources.list}.d "$apt"/var/lib/apt/lists/partial \
    "$apt"/var/cache/apt/archives/partial "$apt"/var/lib/dpkg
: >"$apt/var/lib/dpkg/status"
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $release main" >"$apt/etc/apt/sources.list"
options=(-qq -o "Dir=$apt" -o "Dir::State::status=$apt/var/lib/dpkg/status" -o Acquire::http::Timeout=20 -o Debug::NoLocking=1)
apt-get "${options[@]}" update
apt-get "${options[@]}" install --yes --no-install-recommends --download-only fio >/dev/null

tree=$folder/tree
rm -rf "$tree"
for package in "$apt"/var/cache/apt/archives/*.deb; do
    dpkg-deb --extract "$package" "$tree"
done

# Its own loader and libraries: those of this system are older.
libraries=$(dirname "$(find "$tree/usr/lib" -name 'libaio.so.*' -print -quit)")
loader=$(find "$tree/usr/lib" -name 'ld-linux-*.so.*' -print -quit)
mkdir -p "$folder/bin"
cat >"$folder/bin/fio" <<EOF
#!/bin/sh
exec '$loader' --library-path '$libraries:$libraries/ceph' '$tree/usr/bin/fio' "\$@"
EOF
chmod +x "$folder/bin/fio"
"$folder/bin/fio" --version
