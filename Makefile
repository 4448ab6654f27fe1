# Pipewright: `make demo` shows it, `make test` proves it. Everything needed is set up on the way.
# Needs: Rust, a C++ compiler, make, Python 3 with pip.
#   DEVICE=cuda         the full CUDA wheel set (chosen by itself where an NVIDIA driver is)
#   TORCH=/path/python  an installed torch 2.11 instead of a download

.PHONY: setup build demo test test-long bench check install
.DEFAULT_GOAL := demo

PYTHON ?= python3
DEVICE ?= auto
TORCH ?=
PREFIX ?= $(HOME)/.local

setup:
	@$(PYTHON) runtime/torch/setup/libtorch.py --device $(DEVICE) $(if $(TORCH),--torch $(TORCH))

build: setup
	@cargo build --quiet --workspace --bins

demo: build
	@$(PYTHON) examples/demo.py

test: setup
	@cargo build --workspace --bins
	@PROPTEST_RNG_SEED=1 cargo test --workspace
	@cargo dev fuzz --seconds 60 --seed 1
	@$(PYTHON) -m unittest discover --quiet --start-directory runtime/torch/setup
	@$(PYTHON) -m unittest discover --quiet --start-directory examples/outage/record
	@bash tests/device.sh

test-long: build
	@PROPTEST_CASES=4096 PIPE_FAULTS=300 PIPE_MUTANTS=1000000 cargo test --workspace
	@cargo dev fuzz --seconds 3600

bench: setup
	@cargo build --release --workspace --bins
	@$(PYTHON) tests/bench/bench.py $(if $(ONLY),--only $(ONLY))

check:
	@cargo fmt --all --check
	@cargo clippy --workspace --all-targets -- --deny warnings

install: setup
	@cargo build --release --workspace --bins
	@mkdir -p $(PREFIX)/bin
	@install -m 755 target/release/pipe target/release/pipe-torch $(PREFIX)/bin/
	@echo "installed pipe and pipe-torch to $(PREFIX)/bin (they use libtorch in $(CURDIR)/.libtorch)"
