#!/bin/sh
# A monitor is tried on a drive that grows old: each line of ages is a point of its life.
set -eu
trap 'test ! -e drive/pid || kill "$(cat drive/pid)"' EXIT

ssdlab serve intel-dc-s3500-80gb --set capacity_bytes=1GB -o drive --wait-ready
ssdlab ctl drive snapshot new

while read -r name options; do
    ssdlab ctl drive restore new >restored.txt
    # Several words, or none.
    # shellcheck disable=SC2086
    test -z "$options" || ssdlab ctl drive age $options >aged.txt
    code=0
    ssdlab health drive --format nagios >judged.txt || code=$?
    echo "$name: exit $code, $(sed 's/|.*//' judged.txt | head -n 1)"
done <<'ages'
new
used --used 40 --power-on-hours 9000
worn --used 90
beyond --used 130
spare --spare 5
hot --celsius 75
errors --media-errors 3
capacitor --capacitor failed
read-only --read-only
ages

# As smartctl on the path it is read by whatever calls smartctl.
mkdir bin && ln -s "$(command -v ssdlab)" bin/smartctl
export SSDLAB_DRIVES="$PWD/drive" PATH="$PWD/bin:$PATH"
smartctl --scan
smartctl -A /dev/drive | grep -e Media_Wearout -e Available_Reservd
