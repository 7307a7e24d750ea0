#!/usr/bin/env bash
# Simulated host writes per CPU second beside the bare mapping loop, then instructions a host write as
# callgrind counts them: unlike rates they are the same on a busy machine.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo build --locked --release -p ssdlab-lab --example throughput
throughput=${CARGO_TARGET_DIR:-target}/release/examples/throughput
"$throughput"
echo
"$throughput" mechanisms

if ! command -v valgrind >/dev/null; then
    echo "instructions are not counted: valgrind is not installed; scripts/install-tools.sh installs it"
    exit 0
fi
echo
echo "Instructions a host write, 8 GiB, condition used:"
for over_provisioning in 0.28 0.07; do
    output=$(valgrind --tool=callgrind --callgrind-out-file=/dev/null \
        --toggle-collect='ssdlab_lab::run::run*' "$throughput" count "$over_provisioning" 2>&1)
    read -r writes amplification < <(grep -E '^[0-9]+ [0-9.]+$' <<<"$output")
    instructions=$(sed -n 's/^==[0-9]*== Collected : //p' <<<"$output")
    echo "OP $over_provisioning  $((instructions / writes))  write amplification $amplification"
done
