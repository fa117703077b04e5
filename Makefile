# Everything a newcomer needs; `make help` lists it. Each target sets up what it needs first.
SHELL := /bin/bash
.DEFAULT_GOAL := help
VENV := .venv
PY := $(VENV)/bin/python
LIB ?= cachetools
# Processes of the test suite. The order of sets must be the same in all of them, and another one each time.
TEST_JOBS ?= 2

.PHONY: help setup setup-dev demo test lint proto bench clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

setup: ## make .venv from the hash-locked requirements; .venv/bin/gatekeeper is then there
	@bash deploy/setup.sh runtime

setup-dev:
	@bash deploy/setup.sh dev

demo: setup ## a gate, twenty changes to a real library at once, and a branch that demands verdicts (LIB=name)
	@$(PY) -I deploy/demo/demo.py --lib "$(LIB)"

lint: setup-dev ## formatting, lint, types, layers
	@$(VENV)/bin/ruff format --check gatekeeper tests deploy
	@$(VENV)/bin/ruff check gatekeeper tests deploy
	@$(VENV)/bin/mypy
	@$(VENV)/bin/lint-imports

test: lint ## set up and pass the whole suite
	@if [ "$$CI" = true ]; then bash deploy/opa.sh && bash deploy/api_clients.sh; fi
	@export PYTHONHASHSEED=$${PYTHONHASHSEED:-$$RANDOM} && echo "PYTHONHASHSEED=$$PYTHONHASHSEED" && \
		$(PY) -m pytest -q -n $(TEST_JOBS) --dist loadfile

proto: setup-dev ## generate gatekeeper/api/v1 from proto/, judge style and that no client breaks
	@$(VENV)/bin/buf format -w proto && $(VENV)/bin/buf lint proto
	@$(PY) deploy/proto/generate.py >/dev/null
	@$(VENV)/bin/buf breaking proto --against proto/gatekeeper/api/v1/baseline.binpb

opa: setup ## build the pinned OPA server with Go (the gate needs it only where its settings say so)
	@bash deploy/opa.sh

api-clients: setup-dev ## build grpcurl and a Go client of the API with Go (tests use them)
	@bash deploy/api_clients.sh

bench: setup-dev ## gate time over bare pytest time, side by side, and where the time goes
	@$(PY) tests/bench/bench_check.py
	@$(PY) tests/bench/bench_sandbox.py
	@$(PY) tests/bench/bench_service.py
	@$(PY) tests/bench/bench_suites.py

clean: ## remove what the targets made in this folder
	rm -rf $(VENV) .mypy_cache .ruff_cache .hypothesis .import_linter_cache build *.egg-info
