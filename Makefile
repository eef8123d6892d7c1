# All that is needed is Python 3.11 or newer and make. Everything is installed into .venv, from locks with hashes.

PYTHON ?= python3
SPECS  ?= specs
ARGS   ?=
SHARED ?= ../shared

VENV := .venv
# A Python that is named, and is not that of .venv, has an environment of its own: `make test-fast PYTHON=python3.13`.
ifeq ($(origin PYTHON),command line)
OWN   := $(shell sed -n 's/^version *= *\([0-9]*\.[0-9]*\).*/\1/p' .venv/pyvenv.cfg 2>/dev/null)
ASKED := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
ifneq ($(filter-out $(ASKED),$(OWN)),)
VENV  := .venv-$(ASKED)
endif
endif
BIN  := $(VENV)/bin
RUN  := $(BIN)/python -m trainyard
PIP  := $(BIN)/python -m pip --disable-pip-version-check install --quiet

# worksteal: a core keeps to its files, which share what takes long, until the other has nothing left. Bytecode is
# kept even where a container says otherwise: to compile all tests again takes seconds.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --numprocesses=auto --dist=worksteal

MYPY := $(BIN)/mypy --num-workers auto

# --no-deps: the locks are whole, and an old pip (23.2) cannot resolve what has hashes.
LOCKED := $(PIP) --no-deps --require-hashes

# What is made here, beside .venv itself. Each is newer than what it was made from, so that a second `make` does nothing.
ENV   := $(VENV)/pyvenv.cfg
TOOL  := $(VENV)/requirements.stamp
DEV   := $(VENV)/requirements-dev.stamp

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup dev compile check test test-fast test-kernel test-specs coverage hook format lint type explain docs picture catalog schemas pcluster hyperpod lock bench scale clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(TOOL) ## Make .venv with what the compiler needs, and .venv/bin/trainyard

dev: $(DEV) ## Make .venv with what the tests need too

compile: $(TOOL) ## Compile specs/ into generated/ (SPECS=…, ARGS=--check, ARGS="--replace JOB")
	$(RUN) compile $(ARGS) $(SPECS)

check: $(TOOL) ## Check specs/ and write nothing
	$(RUN) check $(ARGS) $(SPECS)

test: $(DEV) ## Lint, check the format and types, run every test; all of it, whatever fails
	@failed=0; \
	$(BIN)/ruff check || failed=1; \
	$(BIN)/ruff format --check --quiet || { echo "not formatted: run \`make format\`" >&2; failed=1; }; \
	$(MYPY) || failed=1; \
	$(PYTEST) $(ARGS) || failed=1; \
	exit $$failed

test-fast: $(DEV) ## Run the fast tests, for while you work (PYTHON=python3.13: under another Python)
	$(PYTEST) -m "not slow" $(ARGS)

test-kernel: $(DEV) ## Run the kernel's own fast tests, in a copy without any extension
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m tests.kernel --numprocesses=auto $(ARGS)

test-specs: $(DEV) ## Test what a team owns: specs/, policies/ and generated/
	$(BIN)/python -m pytest $(ARGS) tests/own

coverage: $(DEV) ## Run every test, and list the lines and the sides of conditions that none of them takes (15 minutes)
	-env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m coverage run -m pytest --numprocesses=auto --dist=worksteal $(ARGS)
	$(BIN)/python -m coverage combine --quiet
	$(BIN)/python -m coverage report

hook: $(TOOL) ## Have git compile and stage generated/ before each commit
	git config core.hooksPath .githooks

format: $(DEV) ## Format the Python code (ruff)
	$(BIN)/ruff check --fix-only --quiet --select I
	$(BIN)/ruff format

lint: $(DEV) ## Lint the Python code (ruff)
	$(BIN)/ruff check

type: $(DEV) ## Check types (mypy --strict over compiler/ and policies/)
	$(MYPY)

explain: $(TOOL) ## Explain a code or an object (CODE=EFA001, CODE=job/hello); without CODE, list all codes
	@$(RUN) explain $(CODE) --in $(SPECS)

docs: $(DEV) ## Write what is generated in docs/
	$(BIN)/python -m docs.generate

picture: $(DEV) ## Draw docs/architecture.svg from the imports
	$(BIN)/python -m docs.picture

catalog: $(DEV) ## Rebuild the catalog from the data of the locked packages
	$(BIN)/python -m trainyard.extensions.facts.build

schemas: $(DEV) ## Derive the schemas from released CRDs and cfn-lint (SHARED=…, TRAINER_21=…)
	$(BIN)/python -m trainyard.extensions.facts.derive_stacks
	$(BIN)/python -m trainyard.extensions.hyperpod.formats.hyperpod.derive $(SHARED)
	$(BIN)/python -m trainyard.extensions.parallelcluster.formats.parallelcluster.derive $(SHARED)
	$(BIN)/python -m trainyard.extensions.facts.derive_schemas $(SHARED) $(if $(TRAINER_21),--trainer-2.1 $(TRAINER_21))

pcluster: .venv-pcluster/requirements.stamp ## Make .venv-pcluster with the command of ParallelCluster, which some tests ask

.venv-pcluster/requirements.stamp: tests/platforms/parallelcluster/requirements.txt
	$(PYTHON) -m venv .venv-pcluster
	.venv-pcluster/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --require-hashes -r $<
	@touch $@

hyperpod: .venv-hyperpod/requirements.stamp ## Make .venv-hyperpod with the models of HyperPod's client, which some tests ask

.venv-hyperpod/requirements.stamp: tests/platforms/hyperpod/requirements.txt
	$(PYTHON) -m venv .venv-hyperpod
	.venv-hyperpod/bin/python -m pip --disable-pip-version-check install --quiet --no-deps --require-hashes -r $<
	@touch $@

lock: $(ENV) ## Resolve requirements*.in into locks with hashes (UPGRADE=--upgrade)
	$(PIP) uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url $(UPGRADE) requirements.in -o requirements.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url $(UPGRADE) -c requirements.txt requirements-dev.in -o requirements-dev.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url $(UPGRADE) tests/platforms/parallelcluster/requirements.in -o tests/platforms/parallelcluster/requirements.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --no-emit-index-url $(UPGRADE) --no-deps -c requirements.txt tests/platforms/hyperpod/requirements.in -o tests/platforms/hyperpod/requirements.txt

bench: $(DEV) ## Measure: prints times and ratios
	$(BIN)/python benchmarks/bench.py $(ARGS)

scale: $(DEV) ## Measure whether time and memory grow with the input alone (ARGS="--jobs 10000 check")
	$(BIN)/python benchmarks/scale.py $(ARGS)

clean: ## Remove .venv and all caches; generated/ stays
	rm -rf .venv .venv-* build dist *.egg-info .coverage* .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(ENV):
	@command -v $(PYTHON) > /dev/null || { echo "trainyard needs Python 3.11 or newer, and there is no \`$(PYTHON)\`: try make PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit("trainyard needs Python 3.11 or newer, and this is %d.%d: try make PYTHON=python3.12" % sys.version_info[:2] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(TOOL): requirements.txt | $(ENV)
	$(LOCKED) -r requirements.txt
	@echo "$(CURDIR)/compiler" > "$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/trainyard.pth"
	@printf '%s\n' "$$COMMAND" > $(BIN)/trainyard
	@chmod +x $(BIN)/trainyard
	@touch $@

# `trainyard` without a build: the compiler of this folder (`trainyard.pth`), by the Python of .venv.
define COMMAND
#!/bin/sh
exec "$(CURDIR)/$(BIN)/python" -P -m trainyard "$$@"
endef
export COMMAND

# The project itself is linked into .venv, so that `trainyard` and its tests find it from every folder.
$(DEV): requirements-dev.txt requirements.txt pyproject.toml | $(ENV)
	$(LOCKED) -r requirements-dev.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $(TOOL) $@
