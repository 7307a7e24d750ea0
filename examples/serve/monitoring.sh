#!/bin/sh
# Who tests monitoring: a worn drive with a bad sector, seen by Prometheus and by a check.
# Needs ssdlab, curl and qemu-io (package qemu-utils).
set -eu
uri="nbd+unix:///?socket=$PWD/drive/nbd.sock"
ssdlab serve intel-dc-s3500-80gb --set capacity_bytes=1GB --state steady -o drive --wait-ready --web 0 >addresses
trap 'kill "$(cat drive/pid)"' EXIT
page=$(sed -n 's|\(http://[^/]*\)/.*|\1|p' addresses)

qemu-io -f raw -c 'write 0 16M' "$uri" >/dev/null
ssdlab ctl drive inject media-error 1048576
qemu-io -f raw -c 'read 1M 4k' "$uri" || echo "the sector cannot be read"
curl -s "$page/metrics" | grep -E '^ssdlab_(requests_failed|host_bytes_written)'
