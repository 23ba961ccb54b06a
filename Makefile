# Every day: make check, make test; before a push also make test-lab. `make` alone prints what there is.
.DEFAULT_GOAL := help
.PHONY: help up console test test-lab check schema ownership sdk bench soak chaos interop lock clean setup setup-system setup-bench setup-test setup-interop

BIN := .venv/bin
# CPython 3.11 parses the source of a line to mark its columns in tracebacks, and fails with a SystemError when garbage
# collection prints one in the midst of another parse: then a failed test would end its whole process.
export PYTHONNODEBUGRANGES := 1
# Passed on to the program that runs: make up ARGS="--port 8080", make test ARGS="-k restart"
ARGS ?=
# A single proof of soak, chaos or interop may take most of their hour.
LONG := -o faulthandler_timeout=3300
# Test processes: two more than cores, because tests of real processes often wait. A process that ends too early ends
# the run: pytest-xdist cannot give its group of tests to another.
JOBS ?= $(shell expr $$(nproc) + 2)
WORKERS := -n $(JOBS) --dist loadgroup --max-worker-restart 0

help: ## print this
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

up: setup-system console ## everything on this machine: database, server, one node, a demo project (ARGS="--port 8080")
	@if [ "$$(id -u)" = 0 ] && [ "$${SUDO_UID:-0}" != 0 ]; then export PYTHONDONTWRITEBYTECODE=1; fi; \
	exec $(BIN)/gpuaas up $(ARGS) # by sudo it becomes the person who ran sudo, and leaves no files of root in the checkout

console: setup ## build the web console (a Node is fetched where there is none)
	@tools/console.sh build

test: setup-test console ## every test but those of test-lab (ARGS="-k restart", JOBS=2)
	@tools/console.sh test
	@exec $(BIN)/pytest $(WORKERS) $(ARGS)

test-lab: setup-test ## the depth of real nodes: containers and their SSH gateway (ARGS="-k removal")
	@exec $(BIN)/pytest $(WORKERS) -m "lab and not soak and not chaos and not interop" $(ARGS)

check: setup ## static checks: style, types, import contracts, house rules, documents, language
	@failed=; \
	run() { name=$$1; shift; echo "— $$name"; "$$@" || failed="$$failed $$name"; }; \
	run style $(BIN)/ruff check --quiet; \
	run format $(BIN)/ruff format --check --quiet; \
	run types $(BIN)/mypy --no-error-summary src tests tools $(if $(wildcard benchmarks/*.py),benchmarks); \
	run imports $(BIN)/lint-imports --no-logo; \
	run house $(BIN)/python tools/lint_house.py; \
	run ownership $(BIN)/python -m tools.lint_ownership; \
	run docs $(BIN)/python -m tools.lint_docs; \
	run prose $(BIN)/python -m tools.lint_prose; \
	run sdk $(BIN)/python -m tools.sdk --check; \
	run platforms $(BIN)/python tools/check_platforms.py; \
	run console tools/console.sh check; \
	run console-house $(BIN)/python tools/lint_console.py; \
	if [ -n "$$failed" ]; then echo "failed:$$failed"; exit 1; fi

schema: setup ## write docs/reference/schema.sql, the schema after all migrations
	@$(BIN)/python tools/describe_schema.py

ownership: setup ## who writes and reads which table (ARGS=--shrink after code moved, ARGS=--accept after a merge)
	@$(BIN)/python -m tools.lint_ownership $(ARGS)

sdk: setup ## write the SDK's methods from the API's description, after a route has changed
	@$(BIN)/python -m tools.sdk

bench: setup-bench ## measure, each against a peer or a floor in the same run (ARGS="placement")
	@exec $(BIN)/python -m benchmarks $(ARGS)

soak: setup-test console ## the long proofs in full; resumes where it stopped (ARGS="-k keys", FRESH=1)
	@GPUAAS_SOAK_FRESH=$(FRESH) exec $(BIN)/pytest -m soak $(LONG) $(WORKERS) $(ARGS)

chaos: setup-test ## faults under load, two replicas, real PostgreSQL; goes on where it stopped (ARGS="-k failover", FRESH=1)
	@GPUAAS_CHAOS_FRESH=$(FRESH) exec $(BIN)/pytest -m chaos $(LONG) -n 0 tests/chaos $(ARGS)

interop: setup-interop ## real SSH clients, and the engine in a QEMU guest with cgroup v2; resumes where it stopped (ARGS="-k git", FRESH=1)
	@GPUAAS_INTEROP_FRESH=$(FRESH) GPUAAS_TESTS_HOST_NETWORK=1 exec $(BIN)/pytest -m interop $(LONG) -n 0 tests/interop $(ARGS)

lock: setup ## resolve the dependencies of pyproject.toml afresh, with hashes (ARGS="--upgrade")
	$(BIN)/python -m uv pip compile pyproject.toml --extra up --extra dev --output-file requirements.lock $(LOCK) $(ARGS)
	$(BIN)/python -m uv pip compile pyproject.toml --extra up --extra dev --extra bench --constraint requirements.lock \
		--output-file requirements-bench.lock $(LOCK) $(ARGS)
	$(BIN)/python -m uv pip compile requirements-console.in --output-file requirements-console.lock $(LOCK) $(ARGS)
	$(BIN)/python -m uv pip compile requirements-interop.in --output-file requirements-interop.lock $(LOCK) $(ARGS)
# Extras are kept: pip takes `name[extra]` for another requirement than `name`, which would then have no version.
LOCK := --universal --generate-hashes --no-strip-extras --no-emit-index-url --no-header --quiet

clean: ## remove the virtual environment and caches; data of `make up` stays
	rm -rf console/node_modules src/gpuaas/console
	rm -rf .venv .cache .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

setup:
	@tools/setup.sh

setup-system:
	@tools/setup.sh system

setup-test:
	@tools/setup.sh test

setup-bench:
	@tools/setup.sh bench

setup-interop:
	@tools/setup.sh interop
