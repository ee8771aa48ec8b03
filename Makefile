# `make` alone lists the targets. Each makes .venv itself, from requirements.lock alone.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
CODE   := $(wildcard src tests tools bench papers docs/conf.py)

# Compiled modules are kept, whatever is usual here: tests start many interpreters, and each would compile all of ours.
export PYTHONDONTWRITEBYTECODE :=

.DEFAULT_GOAL := help
.PHONY: help demo test check docs man fix bench slow accuracy reproduce lock lint format-check ruff types layers screenshots

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed, $(PYTHON) is %d.%d. To fix: make PYTHON=python3.11 ..." % sys.version_info[:2])'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY)  ## the main job on the packaged census table, start to end
	$(BIN)/sfumato demo

test: $(READY)  ## the default tests and the examples in docstrings
	$(BIN)/python -m pytest -n 2 --dist worksteal --durations=30

check: lint docs test  ## all of CI, in CI's order

lint: format-check ruff types layers  ## format, lint, types and layers; changes nothing

format-check: $(READY)
	$(BIN)/ruff format --check $(CODE)

ruff: $(READY)
	$(BIN)/ruff check $(CODE)

types: $(READY)
	$(BIN)/mypy $(filter-out tests,$(CODE))

layers: $(READY)
	$(BIN)/lint-imports

docs: $(READY)  ## build the documentation, offline, and say where its first page is
	$(BIN)/python -m sphinx -W --keep-going -q -j auto -b html -c docs -d build/doctrees . build/docs
	@echo "the documentation is in $(CURDIR)/build/docs/docs/index.html"

man: $(READY)  ## build the manual page of the command line
	$(BIN)/python -m sphinx -W --keep-going -q -b man -c docs -d build/doctrees . build/man
	@echo "the manual page is $(CURDIR)/build/man/sfumato.1: read it with man build/man/sfumato.1"

fix: $(READY)  ## repair what a tool can
	$(BIN)/ruff check --fix $(CODE) || true
	$(BIN)/ruff format $(CODE)

bench: $(READY)  ## time a million records, Parquet to bundle
	$(BIN)/python -m bench.run
	$(BIN)/python -m bench.groups
	$(BIN)/python -m bench.capped
	$(BIN)/python -m bench.memory

slow: $(READY)  ## every test, the long ones too
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "slow or not slow" --hypothesis-profile=slow

accuracy: $(READY)  ## classification accuracy, measured as the paper does
	$(BIN)/python -m bench.accuracy

reproduce: $(READY)  ## list the figures of the papers; FIGURE=li-2a runs one, with DATA=FOLDER for public tables
	$(BIN)/python -m papers $(FIGURE) $(if $(DATA),--data $(DATA))

screenshots: $(READY)  ## pictures of every page of the workbench, in build/screenshots
	$(BIN)/python -m tests.web.screenshots build/screenshots --print --forced

# Versions and hashes only: whoever installs chooses from where. A personal pip configuration is not looked at.
lock: $(READY)  ## take newer versions into requirements.lock
	PIP_CONFIG_FILE=/dev/null $(BIN)/pip-compile --quiet --upgrade --extra dev --generate-hashes --allow-unsafe \
	    --strip-extras --no-header --no-emit-options --no-annotate --pip-args=--isolated \
	    --output-file requirements.lock pyproject.toml
