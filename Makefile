# One runner for every task; `make` alone lists them.

# The interpreter that .venv is made of, the number of test workers, further arguments for pytest:
#   make setup PYTHON=python3.12        make unit ARGS='-k join -x'
PYTHON  ?= python3
WORKERS ?= 2
ARGS    ?=

# What the changes are counted from, for `make quick`: a branch or a commit, such as HEAD.
BASE    ?= main

# For `make fuzz`: how often, and the first seed, another one each time unless it is given. Or until so many
# migrations have moved, so many of them to another logical plan, and so many by each strategy; with a LOG,
# a file, it goes on where it was ended. KINDS of plans, such as joins,preserving, and STRATEGIES instead of all.
# With an AUTOPILOT=1, one migrates at every opportunity besides, and queries are replaced.
RUNS    ?= 20000
SEED    ?=
MOVED   ?=
ANOTHER ?=
EACH    ?=
LOG     ?=
AUTOPILOT ?=
KINDS   ?=
STRATEGIES ?=

ROOMS   := midstream plans operators optimizer migration autopilot scenarios benchmarks
EXTRAS  := dev,spark,plot
BIN     := .venv/bin
READY   := .venv/.ready
LIBRARY := .venv/.library
BESIDE  := tests pyproject.toml README.md docs examples
PYTEST  := pytest -n $(WORKERS) --dist loadgroup --no-loadscope-reorder
SAY_SKIPPED = if [ -f $(NO_JAVA) ]; then \
  printf '\nSpark tests were SKIPPED: Java 17 or newer is missing. To run them:\n  %s\n' "$$(cat $(NO_JAVA))"; fi

# The clean environment of the wheel, and a copy of the tests with no room next to it.
WHEEL   := build/wheel/.built
CLEAN   := build/wheel-venv
ALONE   := build/wheel-tests
SOURCES := build/sources
NO_JAVA := build/no-java
# Of studies, the commands in a process of their own. Their results are compared in the unit tests, which takes longer.
STUDIES  := test_json_is_all_that_what_if_prints test_plans_and_chart_are_written test_bad_options
IN_WHEEL := $(wildcard tests/test_packaging.py tests/test_doctests.py tests/test_examples.py tests/midstream/test_cli.py \
  tests/scenarios/simulator/test_*command*.py) $(addprefix tests/scenarios/studies/test_commands.py::,$(STUDIES))

export MIDSTREAM_DATA ?= $(abspath ../shared/data)
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Every one of a hundred commands that tests start would compile all modules anew without their bytecode.
unexport PYTHONPATH PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
# Of all tasks, only the checks and the making of the wheel's environment run at the same time.
ifneq ($(MAKECMDGOALS),beside)
.NOTPARALLEL:
endif
.SUFFIXES:
.PHONY: help setup demo bench format lint types layers unit quick coverage wheel-test java fuzz rules mutants beside test slow test-all check clean FORCE

help: ## List the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

setup: $(READY) ## Make .venv with the library (editable) and all its tools

define MAKE_VENV
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'Python 3.11 or newer is needed; "$(PYTHON)" is' "$$($(PYTHON) --version 2>&1)."; \
	  echo 'Name another one: make setup PYTHON=python3.12'; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' || { \
	  echo '"$(PYTHON)" cannot make environments; on Debian and Ubuntu: apt-get install python3-venv'; exit 1; }
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear .venv
endef

$(READY): pyproject.toml
	$(MAKE_VENV)
	@echo 'Installing midstream[$(EXTRAS)] into .venv; the first time, PySpark takes minutes.'
	@$(BIN)/python -m pip install --quiet --no-compile --editable '.[$(EXTRAS)]'
	@# Outside of a repository there are no commits to check.
	@hooks=$$(git rev-parse --git-path hooks 2>/dev/null) && mkdir -p "$$hooks" && cp .githooks/commit-msg "$$hooks" || true
	@touch $@ $(LIBRARY)

# The library without tools, a tenth of the whole; what more is there, stays.
$(LIBRARY): pyproject.toml
	$(MAKE_VENV)
	@echo 'Installing midstream into .venv.'
	@$(BIN)/python -m pip install --quiet --no-compile --editable .
	@touch $@

demo: $(LIBRARY) ## Run the demonstration; this installs only what it needs
	@$(BIN)/midstream demo

bench: $(READY) ## Measure operators beside hand-written loops and other libraries, or what ARGS says
	@$(BIN)/python -m midstream.benchmarks $(ARGS)

format: $(READY) ## Format the code and sort the imports
	$(BIN)/ruff check --select I --fix --quiet .
	$(BIN)/ruff format .

lint: $(READY) ## Check style and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## Check types
	$(BIN)/mypy

layers: $(READY) ## Check that no room imports one above it
	$(BIN)/lint-imports --cache-dir .import_linter_cache

unit: $(READY) ## Run tests, all or those of ARGS, with new examples each time
	$(BIN)/$(PYTEST) $(ARGS)

quick: export MIDSTREAM_PROFILE ?= few
quick: $(READY) ## Run the tests nearest to what changed since BASE (main), for less than a minute
	@$(BIN)/python tests/quick.py --base $(BASE) $(ARGS)

coverage: $(READY) ## Run the tests and report branch coverage (PySpark workers are not measured)
	$(BIN)/$(PYTEST) --cov --cov-report=term --cov-report=html:build/coverage $(ARGS)

# Changes only when the list of files or what is in them does, whatever the time stamps say.
$(SOURCES): FORCE
	@mkdir -p build
	@find $(ROOMS) $(wildcard pyproject.toml README.md LICENSE) -name __pycache__ -prune -o -type f -print \
	  | LC_ALL=C sort | xargs cksum > $@.new
	@if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# build/lib would carry deleted modules into the new wheel.
$(WHEEL): $(SOURCES) $(READY)
	@rm -rf build/wheel build/lib build/bdist.*
	$(BIN)/python -m build --wheel --no-isolation --outdir build/wheel >build/wheel.log 2>&1 \
	  || { cat build/wheel.log; exit 1; }
	@touch $@

# A new pyproject.toml means a new environment; else only the wheel in it is replaced.
$(CLEAN)/.ready: $(WHEEL)
	@rm -f $@
	@if cmp -s pyproject.toml $(CLEAN)/pyproject.toml; then \
	  $(CLEAN)/bin/python -m pip install --quiet --no-deps --force-reinstall build/wheel/*.whl; \
	else \
	  echo 'Installing the wheel[$(EXTRAS)] into $(CLEAN).'; \
	  rm -rf $(CLEAN) && $(BIN)/python -m venv $(CLEAN) \
	  && $(CLEAN)/bin/python -m pip install --quiet --no-compile "$$(echo ./build/wheel/*.whl)[$(EXTRAS)]" \
	  && cp pyproject.toml $(CLEAN)/; \
	fi
	@$(CLEAN)/bin/python -m pip check
	@touch $@

fuzz: $(READY) ## Migrate at random, RUNS times from SEED on, until the law of migration breaks
	@$(BIN)/python tests/fuzz --runs $(RUNS) --workers $(WORKERS) $(addprefix --seed ,$(SEED)) \
	  $(addprefix --moved ,$(MOVED)) $(addprefix --another ,$(ANOTHER)) $(addprefix --each ,$(EACH)) \
	  $(addprefix --log ,$(LOG)) $(addprefix --kinds ,$(KINDS)) $(addprefix --strategies ,$(STRATEGIES)) \
	  $(if $(AUTOPILOT),--autopilot)

rules: export MIDSTREAM_RULE_PLANS ?= 40
rules: export MIDSTREAM_RULE_INPUTS ?= 50000
rules: export MIDSTREAM_RULE_CASES ?= 2000
rules: $(READY) ## Try every rule on 40 plans with 50,000 small inputs each, and on 2,000 random cases that run
	$(BIN)/$(PYTEST) tests/optimizer/test_rules.py $(ARGS)

mutants: $(READY) ## Plant faults, one at a time, and tell which fast test finds each
	@$(BIN)/python tests/planted.py --workers $(WORKERS) $(ARGS)

# A wheel may lack modules, which all are loaded here; data files, which only scenarios ship; its entry point; and
# what its metadata should ask for. `unit` has tested what all of it does. Spark starts once: it writes no archive.
wheel-test: export MIDSTREAM_PROFILE := few
wheel-test: export MIDSTREAM_CLASS_ARCHIVE := 0
wheel-test: $(CLEAN)/.ready ## Run the tests against the built wheel, in a clean environment
	@rm -rf $(ALONE) && mkdir -p $(ALONE) && cp -R $(wildcard $(BESIDE)) $(ALONE)
	cd $(ALONE) && ../../$(CLEAN)/bin/$(PYTEST) $(IN_WHEEL) $(ARGS)

java: ## Find Java 17 or newer for Spark; root on Debian or Ubuntu gets it installed
	@mkdir -p build; rm -f $(NO_JAVA); \
	java=$${JAVA_HOME:+$$JAVA_HOME/bin/}java; \
	version() { "$$java" -version 2>&1 | sed -n 's/.* version "\([0-9]*\).*/\1/p'; }; \
	suits() { v=$$(version); [ "$${v:-0}" -ge 17 ]; }; \
	package() { for p in openjdk-21-jre-headless openjdk-17-jre-headless openjdk-25-jre-headless; do \
	  if apt-cache show $$p 2>/dev/null | grep -q '^Version'; then echo $$p; return; fi; done; \
	  echo openjdk-17-jre-headless; }; \
	if ! suits && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null \
	   && grep -Eq '^ID(_LIKE)?=.*(debian|ubuntu)' /etc/os-release 2>/dev/null; then \
	  echo 'Installing a Java runtime for Spark.'; \
	  apt-get update -qq -o Acquire::Retries=1 -o Acquire::http::Timeout=30; \
	  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $$(package) >build/java.log 2>&1 \
	    || tail -n 5 build/java.log; \
	fi; \
	if suits; then echo "Java $$(version)"; \
	elif command -v apt-get >/dev/null; then echo "sudo apt-get install $$(package) && make test" >$(NO_JAVA); \
	else echo 'make test    (after installing a Java runtime, 17 or newer)' >$(NO_JAVA); fi; \
	if [ -f $(NO_JAVA) ]; then echo 'No Java 17 or newer: Spark tests will be skipped.'; fi

beside: lint types layers

# `test` and `slow` are two halves: together they run every test once. The same examples are drawn each time.
test: export MIDSTREAM_PROFILE ?= few
test: setup java ## Run lint, types, layers and the fast tests, with few examples each
	@$(MAKE) --no-print-directory --jobs=$(WORKERS) --output-sync beside
	$(BIN)/$(PYTEST) -m 'not slow' $(ARGS)
	@$(SAY_SKIPPED)

slow: export MIDSTREAM_PROFILE ?= ci
slow: setup java $(CLEAN)/.ready ## Run what `make test` leaves out: the slow tests, and the wheel's
	$(BIN)/$(PYTEST) -m slow $(ARGS)
	@$(MAKE) --no-print-directory wheel-test
	@$(SAY_SKIPPED)

test-all: export MIDSTREAM_PROFILE ?= ci
test-all: setup java $(CLEAN)/.ready ## Run every test there is, with more examples, and the wheel's
	@$(MAKE) --no-print-directory --jobs=$(WORKERS) --output-sync beside
	$(BIN)/$(PYTEST) $(ARGS)
	@$(MAKE) --no-print-directory wheel-test
	@$(SAY_SKIPPED)

check: ## Run what continuous integration runs: `make test`, then `make slow`
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory slow
	@echo 'All checks passed.'

clean: ## Remove all that make made: .venv, build/, caches
	rm -rf .venv build *.egg-info .coverage .coverage.* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name .git -prune -o -name __pycache__ -type d -prune -exec rm -rf {} +

FORCE:
