#!/bin/sh
# Who tests a database or a file system: writes through NBD, a power cut under load, and whose fault a loss is.
# Needs ssdlab and qemu-io (package qemu-utils).
set -eu
uri="nbd+unix:///?socket=$PWD/drive/nbd.sock"
ssdlab serve intel-dc-s3500-80gb --set capacity_bytes=1GB --set buffer.power_loss_protected=false -o drive --wait-ready >/dev/null
trap 'kill "$(cat drive/pid)"' EXIT

# Written and flushed, then written and only acknowledged.
qemu-io -f raw -c 'write -P 1 0 64k' -c flush "$uri" >/dev/null
qemu-io -f raw -t unsafe -c 'write -P 2 0 64k' -c 'write -P 2 1M 64k' "$uri" >/dev/null
ssdlab ctl drive power-cut --seed 7
ssdlab ctl drive power-on

# Each sector is the old or the new one; nothing else, and nothing that was flushed is gone.
qemu-io -f raw -c 'read -v 0 512' "$uri" | sed -n 1p

# The same with a drive that lies: flushed data are gone, and it is said whose fault that is.
ssdlab ctl drive faults lying
qemu-io -f raw -c 'write -P 3 0 64k' -c flush "$uri" >/dev/null
ssdlab ctl drive power-cut --seed 7
ssdlab ctl drive lost | sed -n '3,5p'
ssdlab ctl drive power-on
