#!/usr/bin/env bash
# Says which tool is missing and what installs it: scripts/require.sh rust|rustfmt|clippy|python [PYTHON]
set -euo pipefail

missing() {
    printf '%s\n' "$@" >&2
    exit 1
}

require_rust() {
    command -v cargo >/dev/null || missing \
        "Rust is missing: cargo is not on the path." \
        "  Install 1.88 or later, see https://www.rust-lang.org/tools/install"
    command -v cc >/dev/null || missing \
        "A linker is missing: cc is not on the path." \
        "  sudo apt-get install build-essential"
}

# A minimal toolchain comes without these.
require_component() {
    cargo "$1" --version >/dev/null 2>&1 || missing \
        "cargo $1 is missing from this Rust toolchain." \
        "  rustup component add $2"
}

require_python() {
    command -v "$1" >/dev/null || missing \
        "Python is missing: $1 is not on the path." \
        "  sudo apt-get install python3 python3-venv"
    "$1" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || missing \
        "$1 is not Python 3.10 or later." \
        "  Name a later one: make PYTHON=python3.12"
    "$1" -c 'import ensurepip, venv' 2>/dev/null || missing \
        "Python cannot make a virtual environment: ensurepip is missing." \
        "  sudo apt-get install python3-venv"
}

while [ $# -gt 0 ]; do
    case $1 in
    rust) require_rust ;;
    rustfmt) require_component fmt rustfmt ;;
    clippy) require_component clippy clippy ;;
    python)
        require_python "${2:-python3}"
        shift $(($# > 1))
        ;;
    *) missing "scripts/require.sh: unknown tool $1" ;;
    esac
    shift
done
