# What people and CI run. Nothing here needs root, and nothing needs libsystemd's headers unless EXTRAS names journald.
# `make` alone lists the targets. Variables may be given on the command line: make test JOBS=1

VENV = .venv
EXTRAS = dev
JOBS = auto
PYTHON =

BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --disable-pip-version-check --quiet --constraint constraints.txt
INSTALLED = $(VENV)/.installed
TOOLS = $(VENV)/.installed-$(EXTRAS)

.DEFAULT_GOAL = help
.DELETE_ON_ERROR:
.PHONY: help demo test lint check format golden bench clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## /\1\t/p' Makefile | expand -t 9

demo: $(INSTALLED) ## the main job on the example incident, into demo/
	$(BIN)/forensics report fixtures/incidents/crm-freeze/inputs \
		--case fixtures/incidents/crm-freeze/case.toml \
		-o demo/report.md --json demo/report.json --evidence demo/evidence.md
	@echo
	@echo "The report is demo/report.md, its charts demo/report-*.svg and .png,"
	@echo "the same as data demo/report.json, and every cited line demo/evidence.md."

test: $(TOOLS) ## all tests, in random order
	TZ=UTC $(BIN)/python -m pytest -n $(JOBS) --dist loadgroup

lint: $(TOOLS) ## format, style, types, architecture, dependencies, spelling
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/deptry .
	$(BIN)/codespell

check: lint test ## lint and test: what a change must pass

format: $(TOOLS) ## rewrite the code in the one format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

golden: $(TOOLS) ## show how approved reports and README's excerpt would change, and rewrite them
	TZ=UTC $(BIN)/python tests/golden.py --write
	TZ=UTC $(BIN)/python tests/test_readme.py

bench: $(TOOLS) ## time and memory on large generated inputs
	TZ=UTC $(BIN)/python benchmarks/run.py

clean: ## remove what these targets made, environments included
	rm -rf .venv .venv-ci demo dist build benchmarks/data
	rm -rf .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find forensics tests benchmarks fixtures -name __pycache__ -prune -exec rm -rf {} +

# The first Python that is new enough and can make environments; PYTHON=… comes before the others.
$(BIN)/python:
	@for python in $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11 ''; do \
		test -n "$$python" || break; \
		"$$python" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && break; \
	done; \
	test -n "$$python" || { \
		echo "make: no Python >= 3.11 with the venv module found; install one, or name it: make PYTHON=/path/to/python3" >&2; \
		exit 1; \
	}; \
	echo "$$python -m venv $(VENV)"; \
	"$$python" -m venv $(VENV)

# Build tools come first and from the same constraints, so that a build downloads nothing that is not pinned.
$(VENV)/.build-tools: constraints.txt | $(BIN)/python
	$(PIP) editables hatchling setuptools wheel
	@touch $@

$(INSTALLED): pyproject.toml constraints.txt $(VENV)/.build-tools
	$(PIP) --no-build-isolation --editable .
	@touch $@

$(VENV)/.installed-%: pyproject.toml constraints.txt $(VENV)/.build-tools
	$(PIP) --no-build-isolation --editable '.[$*]'
	@touch $(INSTALLED) $@
