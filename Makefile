# Every target sets up what it needs. `make help` lists them.
PYTHON ?=
SUITE ?= suites/crf.yaml
BASELINE ?= main
BUDGET ?= 10m
BIN := .venv/bin
NATIVE := kernels/CMakeLists.txt $(wildcard kernels/csrc/* kernels/csrc/*/*)

.DEFAULT_GOAL := help
.PHONY: help setup run test test-cuda cuda-sanitize lint format bench gate gate-power results wheels clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 16

setup: .venv/installed ## make .venv and install pacbench with what it needs

run: setup ## run the main job, suites/crf.yaml (or SUITE=...)
	$(BIN)/pacbench run $(SUITE)

test: setup ## run all tests
	$(BIN)/pytest --numprocesses 2 --dist loadfile

test-cuda: setup ## run the tests that need a GPU
	$(BIN)/pytest -m cuda

# Without torch's cache of allocations, so that a kernel that leaves its array leaves its allocation.
cuda-sanitize: setup ## run the kernels on a GPU under compute-sanitizer
	@command -v compute-sanitizer >/dev/null || { \
		echo "error: no compute-sanitizer on the PATH; it comes with the CUDA toolkit" >&2; exit 2; }
	for tool in memcheck racecheck synccheck; do \
		PYTORCH_NO_CUDA_MEMORY_CACHING=1 compute-sanitizer --tool $$tool --error-exitcode 1 \
			--target-processes all $(BIN)/pytest -m cuda tests/kernels tests/cuda --timeout 0 || exit 1; \
	done

lint: setup build/typed ## check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

format: setup ## bring the code into style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: setup ## measure the performance bars, as ratios in one run
	$(BIN)/pytest tests/benchmarks --benchmark-only -s

gate: setup ## is this checkout slower than BASELINE (main)? exit code 1 if so, 3 if not known
	$(BIN)/pacbench gate --baseline $(BASELINE)

gate-power: setup ## the gate's false alarms and power here, idle and loaded; BUDGET of timing each
	$(BIN)/pacbench gate --self-test --pool build/gate-pool.jsonl --budget $(BUDGET)
	$(BIN)/pacbench gate --self-test --pool build/gate-pool.jsonl --budget $(BUDGET) --load

results: setup ## run the standard suites and make the committed results anew
	$(BIN)/python tools/results.py

wheels: setup ## keep a copy of all packages in wheels/, for setting up offline
	$(BIN)/python -m pip wheel --quiet --constraint constraints.txt --wheel-dir wheels \
		$$($(BIN)/python -m pip freeze --all --exclude-editable | cut -d' ' -f1 | cut -d= -f1)

clean: ## remove what was built, and the virtual environment
	rm -rf .venv build dist wheels

# Reinstalled when the native sources or the dependencies change; Python files are used in place.
.venv/installed: pyproject.toml constraints.txt tools/setup.sh $(NATIVE)
	PYTHON="$(PYTHON)" tools/setup.sh
	@touch $@

# The tree as it is imported (kernels/ and baselines/ live in pacbench), for the type checker.
.PHONY: build/typed
build/typed:
	@rm -rf $@ && mkdir -p $@
	@cp -rs $(CURDIR)/pacbench $@/
	@cp -rs $(CURDIR)/kernels/. $@/pacbench/kernels/
	@cp -rs $(CURDIR)/baselines/. $@/pacbench/baselines/
