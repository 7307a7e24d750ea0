# ssdlab: `make` alone lists what there is. Needs make, Python 3.10 or later and a Rust toolchain;
# everything else comes from requirements.lock and the Cargo.lock files.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.NOTPARALLEL:
.DELETE_ON_ERROR:

PYTHON ?= python3
CARGO ?= cargo
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
POLICY := examples/policies/greedy_rust/Cargo.toml
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc)
# A file of tests stays on one core, so that what it builds for all of them is built once.
SIDE_BY_SIDE := --dist loadfile --no-loadscope-reorder
# Modules are compiled once, whatever an image for containers says: tests start the command some thousand times.
unexport PYTHONDONTWRITEBYTECODE
# The crates of their own, of examples/ and fuzz/, use again what was built for the workspace.
export CARGO_TARGET_DIR ?= $(abspath target)

# Folders count too, so that a file taken away is noticed.
ENGINE_SOURCES := $(shell find crates/*/src crates/*/build.rs crates/*/Cargo.toml profiles) Cargo.toml Cargo.lock pyproject.toml

.PHONY: help install demo test lint test-rust test-python test-e2e test-guest package bench fuzz format lock golden clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

install: $(VENV)/engine.stamp ## the command .venv/bin/ssdlab; quick where nothing changed
	@echo "$(BIN)/ssdlab is ready"

$(VENV)/python.stamp: requirements.lock
	@scripts/require.sh python $(PYTHON)
	$(PYTHON) -m venv $(VENV)
	@# uv takes a seventh of pip's time, and does not know what pip is told of a mirror.
	$(PIP) $$(grep '^uv==' requirements.lock)
	$(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -r requirements.lock || $(PIP) -r requirements.lock
	@touch $@

# Python files are used where they are; only the compiled part has to be made. maturin shows how the
# build goes; pip, which would be silent about it, then finds it done and installs the command.
$(VENV)/engine.stamp: $(VENV)/python.stamp $(ENGINE_SOURCES)
	@scripts/require.sh rust
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/maturin develop --release --locked --skip-install
	PATH=$(abspath $(BIN)):$$PATH $(PIP) --no-deps --no-build-isolation --config-settings build-args=--locked --editable .
	$(BIN)/python -m compileall -q python/ssdlab
	@touch $@

demo: install ## one SSD fresh and steady, then what others measured beside the model: three minutes
	$(BIN)/ssdlab demo
	$(BIN)/ssdlab reproduce --quick -o demo

# The engine is linked on one core for long: what does without it runs beside.
test: $(VENV)/python.stamp ## formats, lints, types, tests of crates and modules: the loop to work in
	@mkdir -p target
	@$(MAKE) install >target/install.log 2>&1 & engine=$$!; \
	$(MAKE) lint test-rust || { kill $$engine 2>/dev/null; wait $$engine; exit 1; }; \
	wait $$engine || { cat target/install.log; exit 1; }
	@$(MAKE) test-python

# What fails soonest comes first; nothing here needs the engine.
lint: $(VENV)/python.stamp ## formatting, lints, types; changes nothing
	@scripts/require.sh rust rustfmt clippy
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(CARGO) fmt --check
	$(CARGO) fmt --check --manifest-path $(POLICY)
	$(CARGO) fmt --check --manifest-path fuzz/Cargo.toml
	$(BIN)/mypy
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) clippy --locked --manifest-path $(POLICY) -- -D warnings
	@# A library that is named is not built, so that this needs no C++ compiler; only make fuzz links one.
	CUSTOM_LIBFUZZER_PATH=./libfuzzer.a $(CARGO) clippy --locked --manifest-path fuzz/Cargo.toml -- -D warnings

test-rust: ## unit, property and documentation tests of the crates
	@scripts/require.sh rust
	@# A drive in a simulation keeps time; the other examples of the crates are linted, and run where they are needed.
	$(CARGO) test --locked --lib --bins --tests --example simulation
	$(CARGO) test --locked --doc

test-python: install ## tests of the package's modules, on all cores (JOBS); tells the slowest twenty
	$(BIN)/stubtest ssdlab._engine
	$(BIN)/pytest -n $(JOBS) $(SIDE_BY_SIDE) --durations=20 -m "not end_to_end"

test-e2e: install ## end-to-end tests: whole commands, with fio, browsers, databases, servers, clusters
	@# Many wait for another process: one more than there are cores keeps these busy.
	$(BIN)/pytest tests/python -n $$(($(JOBS) + 1)) $(SIDE_BY_SIDE) --durations=20 -m end_to_end

test-guest: install ## layouts and printed chains in a guest kernel, audited and mended; says what it skips
	@scripts/install-tools.sh || echo "test-guest: not all tools are here; what needs them is skipped"
	$(BIN)/pytest tests/guest -rsP -n $$(($(JOBS) + 1)) $(SIDE_BY_SIDE) --durations=5 --override-ini=addopts= --override-ini=testpaths=

package: install ## wheel and source distribution, each installed into an empty environment and tried
	@scripts/package.sh

# Parts of the long tests, each at most an hour on two cores.
test-long: install ## PART=asked|conditions|control|coverage|databases|datasheets|drawn-drives|examples|fio|first-slices|fit|fit-coverage|intervals|interrupt|kills|measured|mutants|power-cuts|predictions|pts|pts-960gb|real|scale|served|sizing|sweep|traces|twins: tests that take longer than CI may
	@scripts/test-long.sh "$(PART)"

bench: install ## simulated writes per CPU second beside the bare mapping loop, instructions a write, the served drive beside nbdkit
	@scripts/require.sh rust
	@scripts/bench.sh

fuzz: ## job files, traces, profiles, NBD and NVMe clients, folders and logs made up at random, FUZZ_SECONDS (60) each
	@scripts/fuzz.sh $(FUZZ_SECONDS)

format: $(VENV)/python.stamp ## rewrite the sources in the house style
	@scripts/require.sh rust rustfmt
	$(CARGO) fmt
	$(CARGO) fmt --manifest-path $(POLICY)
	$(CARGO) fmt --manifest-path fuzz/Cargo.toml
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

lock: ## bring the lock files up to date once a Cargo.toml has changed
	$(CARGO) fetch
	$(CARGO) fetch --manifest-path $(POLICY)
	$(CARGO) fetch --manifest-path fuzz/Cargo.toml

golden: install ## write the golden texts, the manual page and what README shows anew; read the difference
	$(BIN)/pytest --renew-golden
	RENEW_GOLDEN=1 $(CARGO) test --locked -p ssdlab-lab --test all -- fio_options golden_digits

clean: ## remove all that was made
	rm -rf $(VENV) target examples/*/target examples/policies/*/target fuzz/target fuzz/corpus fuzz/artifacts demo dist
	rm -rf .mypy_cache .ruff_cache .pytest_cache
	find python tests -name __pycache__ -prune -exec rm -rf {} +
	find python -name '*.so' -delete
