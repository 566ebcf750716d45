# Every task of the project; CI calls these same targets.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# The wheel is installed, not the checkout: an editable install doubles the start of Python.
SOURCES := $(shell git ls-files '*.py' '*.c' '*.h' '*.md' '*.scm' '*.json' '*.toml' \
	netsharp_lsp engine grammar netsharp setup.py pyproject.toml MANIFEST.in 2>/dev/null)

.PHONY: help run test laws lint bench big models fuzz fuzz-compile grammar peers extension wheels vsix editors gpu gpu-folder gpu-software r r-check embedded soak torture sanitize site clean

help: ## Show the targets.
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'

# `build/` may hold modules that are no longer there.
$(VENV)/.installed: $(BIN)/python $(SOURCES)
	rm -rf build
	$(BIN)/python -m pip install --quiet .
	@touch $@

$(VENV)/.test: $(VENV)/.installed pyproject.toml
	$(BIN)/python -m pip install --quiet --group test
	@touch $@

$(VENV)/.lint: $(VENV)/.installed pyproject.toml
	$(BIN)/python -m pip install --quiet --group lint
	@touch $@

$(VENV)/.peers: $(VENV)/.test pyproject.toml
	$(BIN)/python -m pip install --quiet --group peers
	@touch $@

$(VENV)/.bench: $(VENV)/.peers pyproject.toml
	$(BIN)/python -m pip install --quiet --group bench
	@touch $@

$(VENV)/.site: $(VENV)/.test pyproject.toml
	$(BIN)/python -m pip install --quiet --group site
	@touch $@

site: $(VENV)/.site ## Build the documentation site into out/site, and follow every link inside it.
	$(BIN)/python -m website.building out/site

run: $(VENV)/.installed ## Check, format, describe, train and predict the digits example.
	$(BIN)/python examples/tour.py

test: $(VENV)/.test ## Run the tests, all but those that type into editors.
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations=40 --ignore tests/editors/test_vscode.py \
		--ignore tests/editors/test_typing.py

laws: $(VENV)/.test ## Try every case of the laws, and of all else that 'make test' draws a share of.
	FULL=$(or $(FULL),1) $(BIN)/python -m pytest -n 2 --dist worksteal --durations=40 -m 'drawn or costly' \
		--ignore tests/editors --ignore tests/boards

lint: $(VENV)/.lint ## Check style and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

peers: $(VENV)/.peers ## Install PyTorch, against which tests and benchmarks compare.

bench: $(VENV)/.bench ## Measure speed and accuracy beside named peers.
	$(BIN)/python bench/run.py

big: $(VENV)/.installed ## Train on a table of 5 GB, removed afterwards; MEGABYTES chooses another size.
	$(BIN)/python bench/big.py --megabytes $(or $(MEGABYTES),5000)

models: $(VENV)/.peers ## Try the model files of CNTK below FOLDER: opened, answered, exported.
	$(BIN)/python bench/strangers_models.py $(FOLDER)

fuzz: $(VENV)/.test ## Fuzz for a long time; SECONDS, MODELS and SEED choose how long and where.
	$(BIN)/python -m tests.fuzz --seconds $(or $(SECONDS),600) --seed $(or $(SEED),1) \
		--models $(or $(MODELS),100000)

fuzz-compile: $(VENV)/.test ## Compile networks drawn by chance beside the simulator; ROUNDS and SEED choose how many times 144.
	for round in $$(seq $(or $(ROUNDS),5)); do \
		FULL=1 NETSHARP_SEED=$(or $(SEED),1)$$round $(BIN)/python -m pytest -q -n 2 --dist worksteal \
			-k drawn_by_chance tests/compiling || exit 1; \
	done

grammar: ## Regenerate the parsers; fail if the committed ones differ.
	sh grammar/regenerate.sh

vscode-extension/node_modules: vscode-extension/package-lock.json
	cd vscode-extension && npm ci --silent
	@touch $@

extension: vscode-extension/node_modules ## Check, test and build the VS Code extension.
	cd vscode-extension && npm run --silent check && npm test --silent && npm run --silent build

$(VENV)/.wheels: $(BIN)/python pyproject.toml
	$(BIN)/python -m pip install --quiet --group wheels
	@touch $@

wheels: $(VENV)/.wheels ## Build a wheel per platform into out/wheels; TARGETS chooses some.
	$(BIN)/python packaging/wheels.py out/wheels $(TARGETS)

vsix: extension wheels ## Pack the extension per platform into out/vsix; TARGETS chooses some.
	$(BIN)/python packaging/vsix.py out/wheels out/vsix $(TARGETS)

editors: $(VENV)/.test ## Install real editors, pack the extension (PACKED=1: it is), test both together.
	bash tests/editors/install.sh .tools
	$(if $(PACKED),,$(MAKE) vsix TARGETS=linux-x64)
	$(BIN)/python -m pytest -n 2 --dist loadfile --durations=0 tests/editors

# An environment with the oldest numpy, which is what a reticulate of Debian knows.
R_VENV := .tools/r
$(R_VENV)/.installed: $(SOURCES)
	$(PYTHON) -m venv $(R_VENV)
	rm -rf build
	$(R_VENV)/bin/python -m pip install --quiet . 'numpy==1.26.*' 'pandas<3' 'pytest>=8' 'pytest-timeout>=2.3'
	@touch $@

r: $(R_VENV)/.installed ## Install R from Debian where there is none, and run the tests of the R package.
	bash tests/r/install.sh
	FULL=1 $(R_VENV)/bin/python -m pytest --durations=10 tests/r

r-check: $(R_VENV)/.installed ## Run R CMD check on the R package, into out/r.
	bash tests/r/install.sh
	bash tests/r/check.sh $(R_VENV)/bin/python out/r

gpu-software: $(VENV)/.peers ## Install Mesa's software driver from Debian, and run the tests of graphics devices on it.
	bash tests/wgpu/install.sh
	NETSHARP_REQUIRE_WGPU=1 NETSHARP_LONG=1 FULL=1 $(BIN)/python -m pytest -n 2 --durations=5 tests/wgpu

gpu: ## Check and measure the graphics device that is here, offline; the report goes to bench/graphics.md.
	PYTHON=$(if $(wildcard $(BIN)/python),$(BIN)/python,$(PYTHON)) bash bench/graphics/gpu.sh $(GPU)

gpu-folder: $(BIN)/python ## Make out/gpu, by which `bash gpu.sh` does the same on a machine without network.
	$(BIN)/python bench/graphics/packing.py out/gpu

embedded: $(VENV)/.test ## Install cross compilers and emulators from Debian, and run compiled networks on them.
	bash tests/boards/install.sh
	FULL=1 $(BIN)/python -m pytest -rs --durations=5 tests/boards tests/compiling/test_packages.py

soak: $(VENV)/.test ## Type into a live server for long; EDITS and SEED choose how long and what.
	$(BIN)/python -m tests.soak --edits $(or $(EDITS),30000) --seed $(or $(SEED),1)

torture: $(VENV)/.test ## Try the promises as an adversary would; SECONDS, SEED and FULL choose how.
	$(BIN)/python -m tests.torture --seconds $(or $(SECONDS),600) --seed $(or $(SEED),1) $(if $(FULL),--full)

sanitize: $(VENV)/.test ## Run the engine's C code under address, undefined-behaviour and thread sanitizers; FULL=1: all.
	$(BIN)/python -m tests.sanitized $(if $(FULL),--all)

clean: ## Remove what the other targets made.
	rm -rf $(VENV) build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache out
	rm -rf vscode-extension/node_modules vscode-extension/dist vscode-extension/dist-test
