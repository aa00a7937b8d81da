# Two commands do everything on a machine that has only python3, git and make:
#   make demo   a sweep of small real trainings, evaluated while it runs and live on the board, then compared
#   make test   everything needed is installed, then lint, types, import directions and tests
PYTHON ?= python3
VENV   := .venv
DEMO   := .venv-demo
BIN    := $(VENV)/bin
PIP_PIN := 26.3
# Most tests wait for processes most of the time: one more than there are processors.
WORKERS ?= $(shell expr $$(nproc 2>/dev/null || echo 1) + 1)
BOARD  := $(shell find web -name node_modules -prune -o -name .node -prune -o -type f -print)

.PHONY: demo board board-check browser wheel test lint types imports unit format clean

$(VENV)/.ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check pip==$(PIP_PIN)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e . --group dev
	touch $@

$(DEMO)/.ready: pyproject.toml constraints.txt $(shell find src -name '*.py' -o -name '*.sql') $(BOARD)
	test -x $(DEMO)/bin/python || $(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet --disable-pip-version-check pip==$(PIP_PIN)
	$(DEMO)/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt '.[demo]'
	touch $@

demo: $(DEMO)/.ready
	PATH="$(CURDIR)/$(DEMO)/bin:$$PATH" sh examples/demo.sh

# The web page of `paddock serve`, into the place where the server looks for it.
board: $(VENV)/.ready
	$(BIN)/python web/build.py

board-check: $(VENV)/.ready
	$(BIN)/python web/build.py --check

# A wheel, and a look into it: the board is not in the repository, but must be in there.
wheel: $(VENV)/.ready
	rm -rf dist
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .
	$(BIN)/python web/in_wheel.py dist/paddock-*.whl

# The tests of the board want a Chromium; without one, PADDOCK_NO_BROWSER=1 leaves them away.
browser:
	sh tests/acceptance/board/browser.sh

test: browser board board-check lint types imports unit

lint: $(VENV)/.ready
	$(BIN)/ruff check src tests bench examples
	$(BIN)/ruff format --check src tests bench examples

types: $(VENV)/.ready
	$(BIN)/mypy

imports: $(VENV)/.ready
	$(BIN)/lint-imports

# The browser's tests by themselves: while Playwright is there, its loop runs in the thread of all tests.
unit: $(VENV)/.ready
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal tests --ignore=tests/acceptance/board
	$(BIN)/python -m pytest tests/acceptance/board

format: $(VENV)/.ready
	$(BIN)/ruff check --fix src tests bench examples
	$(BIN)/ruff format src tests bench examples

clean:
	rm -rf $(VENV) $(DEMO) $(FORMATS) $(LAUNCHERS) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache

include tests/faults/faults.mk
include tests/formats/formats.mk
include tests/launchers/launchers.mk
include tests/cluster/cluster.mk
include tests/cluster/kubernetes.mk
-include bench/bench.mk
