# Vouch. `make help` explains every target.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
# Yours to give on the command line. AS is set empty because make has one of its own (the assembler).
AS :=
Q :=
FILE :=
ARGS :=
DATA := $(or $(VOUCH_DATA),../shared/data)
BIN := $(VENV)/bin
BENCH := .venv-bench
PY := $(BIN)/python

.DEFAULT_GOAL := help
.PHONY: help run ask import test lint types format requirements bench bench-search eval-retrieval calibrate soak \
	train lock ci quickstart clean

help: ## Show this list; every target takes ARGS="…" for more options
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sort | awk -F':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit("Vouch needs Python 3.11 or newer, this is " + sys.version.split()[0]) if sys.version_info < (3, 11) else None'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(VENV)/bin/python requirements.txt requirements-local.txt constraints.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-local.txt
	@touch $@

$(VENV)/.dev: $(VENV)/.run requirements-dev.txt
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-dev.txt
	@touch $@

run: $(VENV)/.run ## Start the whole product with a demo shop on http://127.0.0.1:7071
	@exec $(PY) -m local serve $(ARGS)

# The question goes through the environment: neither make nor the shell may read it as anything but text.
ask: export VOUCH_ASK = $(value Q)
ask: export VOUCH_ASK_AS = $(value AS)
ask: $(VENV)/.run ## Ask the running demo shop: make ask Q="Where is my order 1003?" AS=customer-id
	@$(PY) -m local ask "$$VOUCH_ASK" --as "$$VOUCH_ASK_AS" $(ARGS)

import: export VOUCH_IMPORT = $(value FILE)
import: $(VENV)/.run ## Import articles into the running demo shop: make import FILE=catalog.csv (JSONL, CSV, Shopify export)
	@$(PY) -m local import "$$VOUCH_IMPORT" $(ARGS)

test: $(VENV)/.dev ## Run every test but the soaks
	$(BIN)/pytest -q -m "not soak" --requirements=build/requirements.json $(ARGS)

soak: $(VENV)/.dev ## Run the long seeded tests: crash points, generated requests, interleavings, twins, flood
	$(BIN)/pytest -q -m soak $(ARGS)

requirements: $(VENV)/.dev ## Print each requirement with the tests that prove it, and what is still open
	@test -f build/requirements.json || $(BIN)/pytest -q -m "not soak" --requirements=build/requirements.json > build/requirements.log
	@$(PY) -m tests.requirements build/requirements.json

bench: $(VENV)/.dev ## Print the figures of design budgets, as ratios of one run
	$(PY) -m bench $(ARGS)

$(BENCH)/.done: requirements.txt requirements-bench.txt constraints.txt
	@$(PYTHON) -m venv $(BENCH)
	@$(BENCH)/bin/pip install --quiet --disable-pip-version-check -c constraints.txt -r requirements-bench.txt
	@touch $@

bench-search: $(BENCH)/.done ## Search at 1k, 10k and 100k articles beside LangChain, in an environment of its own
	$(BENCH)/bin/python -m bench.search_peers $(ARGS)

eval-retrieval: $(VENV)/.dev ## Ranking and confidence on labelled sets, against their targets: DATA=folder
	$(PY) -m evals.retrieval --data "$(DATA)" $(ARGS)

calibrate: $(VENV)/.dev ## Fit retrieval confidence on labelled sets or on a tenant's articles: DATA=folder
	$(PY) -m evals.retrieval.calibrate --data "$(DATA)" $(ARGS)

ci: lint types test requirements quickstart ## Everything CI runs: lint, types, tests and the README's own commands

quickstart: $(VENV)/.run ## Run the README's first steps against a fresh data folder
	@$(PY) -m tests.quickstart

lint: $(VENV)/.dev ## Style, formatting and the import fences
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev ## Strict types, and the wrong calls that must not type
	$(BIN)/mypy

format: $(VENV)/.dev ## Rewrite the code in the house format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

train: $(VENV)/.dev ## Rebuild the offline intent classifier from its utterances (reproducible)
	$(PY) -m shared.adapters.embedded.training

clean: ## Remove the environment, caches and local data
	rm -rf $(VENV) $(BENCH) .local .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build

lock: $(VENV)/.dev ## Pin the newest allowed versions into constraints.txt (needs uv)
	uv pip compile --universal --python-version 3.11 --no-emit-index-url --no-header --no-annotate -q requirements-dev.txt -o constraints.txt
