#!/usr/bin/env bash
# Simulated host writes per CPU second beside the bare mapping loop, instructions a host write as callgrind counts
# them (unlike rates they are the same on a busy machine), and the served drive beside nbdkit.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --locked --release -p ssdlab-lab --example throughput
throughput=${CARGO_TARGET_DIR:-target}/release/examples/throughput
"$throughput"
echo
"$throughput" mechanisms
echo
cargo build --locked --release -p ssdlab-lab --example real_drives
real_drives=${CARGO_TARGET_DIR:-target}/release/examples/real_drives
"$real_drives"

count() { # NAME FUNCTION PROGRAM…: instructions a write within the function
    local name=$1 function=$2 output writes amplification instructions
    shift 2
    output=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect="$function" "$@" 2>&1)
    read -r writes amplification < <(grep -E '^[0-9]+ [0-9.]+$' <<<"$output")
    instructions=$(sed -n 's/^==[0-9]*== Collected : //p' <<<"$output")
    echo "$name  $((instructions / writes))  write amplification $amplification"
}

if command -v valgrind >/dev/null; then
    echo
    echo "Instructions a host write, 8 GiB, condition used:"
    for over_provisioning in 0.28 0.07; do
        count "OP $over_provisioning" 'ssdlab_lab::run::run*' "$throughput" count "$over_provisioning"
    done
    echo "Instructions a 4 KiB request, random, 32 deep, on steady drives of four dies:"
    for drive in $("$real_drives" names); do
        for operation in write read; do
            count "$drive, $operation" 'ssdlab_lab::run::run*' "$real_drives" count "$drive" "$operation"
        done
    done
    cargo build --locked --release -p ssdlab-disk --example steady_writes
    echo "Instructions a 4 KiB write to a drive that holds its bytes, 64 MiB in RAM, steady:"
    count "with bytes" '*counted_writes*' "${CARGO_TARGET_DIR:-target}/release/examples/steady_writes"
else
    echo "instructions are not counted: valgrind is not installed; scripts/install-tools.sh installs it"
fi

.venv/bin/python scripts/bench-served.py
