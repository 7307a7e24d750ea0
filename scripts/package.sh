#!/usr/bin/env bash
# Builds the wheel and the source distribution into dist/, installs each into an empty environment
# and runs there, outside this tree, what a new user runs first: the README's Python block, or a job.
# Nothing but PyPI is asked; cargo's build of the dependencies in target/ is used again.
set -euo pipefail
cd "$(dirname "$0")/.."
tree=$PWD
export PATH=$tree/.venv/bin:$PATH CARGO_TARGET_DIR=$tree/target PIP_DISABLE_PIP_VERSION_CHECK=1

fail() {
    echo "package: $*" >&2
    exit 1
}

try() { # WHAT FILE COMMAND…: into an environment of its own, in whose folder of programs the command is
    local env=$scratch/$1 what=$1
    python3_of_tree -m venv "$env"
    # What is not used need not be compiled.
    "$env/bin/python" -m pip install --quiet --no-compile "$2"
    (
        cd "$scratch"
        "$env/bin/ssdlab" report result.json -o "$what.html" 2>"$what.log" || fail "$(cat "$what.log")"
        "$env/bin/$3" "${@:4}"
    )
    local listed
    listed=$(cd "$scratch" && "$env/bin/ssdlab" drives | tail -n +2 | wc -l)
    [ "$listed" -eq "$profiles" ] || fail "$what: it lists $listed drives, and profiles/ has $profiles"
    [ -s "$env/share/man/man1/ssdlab.1" ] || fail "$what: the manual page is not installed"
    echo "package: $what installs and runs: ${*:3}"
}

# The interpreter below .venv, so that the new environments have nothing of its packages.
python3_of_tree() {
    "$(python -c 'import sys; print(sys._base_executable)')" "$@"
}

grep -q '^    >>> ' README.md || fail "README.md has no Python block"
profiles=$(find profiles -name '*.toml' | wc -l)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
rm -rf dist
python -m build --no-isolation --sdist --wheel --outdir dist . >"$scratch/build.log" 2>&1 ||
    { cat "$scratch/build.log"; fail "python -m build failed"; }

# Whatever git keeps of the package must be in the wheel: templates, figures, wear attributes.
wheel=$(echo dist/*.whl)
python -m zipfile --list "$wheel" | awk '{ print $1 }' >"$scratch/wheel.txt"
git ls-files python/ssdlab | sed 's|^python/||' | while read -r file; do
    grep -qxF "$file" "$scratch/wheel.txt" || fail "$wheel lacks $file"
done

ssdlab run --rw=randwrite --bs=4k --number_ios=1000 --drive theory \
    --output-format json+ -o "$scratch/result.json"
try wheel "$tree/$wheel" python -m doctest "$tree/README.md"
# It is compiled anew, since it lies elsewhere; without optimisation, since it only runs a short job.
export CARGO_PROFILE_RELEASE_OPT_LEVEL=0 CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=64 CARGO_PROFILE_RELEASE_DEBUG=0
try sdist "$tree/$(echo dist/*.tar.gz)" ssdlab run --drive theory --set capacity_bytes=1GiB --rw=randwrite --bs=4k --number_ios=1000 -o run.txt
