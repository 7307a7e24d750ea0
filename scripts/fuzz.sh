#!/usr/bin/env bash
# Runs every fuzz target for so many seconds: scripts/fuzz.sh [SECONDS]
# What was found once is kept in fuzz/corpus; a crash leaves its input in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-60}

if ! cargo +nightly fuzz --version >/dev/null 2>&1; then
    echo "fuzz: skipped: it needs the nightly toolchain and cargo-fuzz:"
    echo "  rustup toolchain install nightly && cargo install cargo-fuzz"
    exit 0
fi

run() { # TARGET SEEDS
    mkdir -p "fuzz/corpus/$1"
    echo "fuzz: $1 for $seconds s"
    cargo +nightly fuzz run "$1" "fuzz/corpus/$1" "$2" -- -max_total_time="$seconds" -rss_limit_mb=4096
}

run job_file fuzz/seeds/job_file
run trace fuzz/seeds/trace
run profile profiles
run nbd fuzz/seeds/nbd
run nvme fuzz/seeds/nvme
run folder fuzz/seeds/folder
run log fuzz/seeds/log
