#!/bin/sh
# Who teaches: write amplification rises while somebody writes, at the drive's own pace.
# Needs ssdlab and fio with its nbd engine.
set -eu
uri="nbd+unix:///?socket=$PWD/drive/nbd.sock"
ssdlab serve intel-dc-s3500-80gb --set capacity_bytes=1GB --state steady -o drive --pace 1 --wait-ready
trap 'kill "$(cat drive/pid)"' EXIT

fio --name=writes --ioengine=nbd --uri="$uri" --rw=randwrite --bs=4k --iodepth=32 --runtime=5 --time_based --output=fio.log &
ssdlab ctl drive watch --seconds 5
wait
grep -o 'IOPS=[^,]*' fio.log
