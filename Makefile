# Two commands on a bare machine: `make demo` and `make test`. Both set up .venv/ from pyproject.toml first.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
OUT ?= svdecode-demo
export MPLBACKEND ?= Agg

.PHONY: demo test lint types imports readme docs check test-oldest bench clean

# the stamp is newer than pyproject.toml when the environment is up to date
$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "svdecode needs Python 3.11 or newer; set PYTHON=")'
	@echo "setting up $(VENV) (once, a minute or two)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[all,test,dev,docs]'
	@touch $@

demo: $(VENV)/.ready
	@$(BIN)/svdecode demo --out $(OUT)

test: $(VENV)/.ready
	$(BIN)/python -m pytest -q

lint: $(VENV)/.ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.ready
	$(BIN)/mypy

imports: $(VENV)/.ready
	$(BIN)/lint-imports

readme: $(VENV)/.ready
	$(BIN)/python -m pytest -q tests/test_readme.py

docs: $(VENV)/.ready
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "docs/_build/html/index.html"

check: test lint types imports readme docs

# the oldest supported versions of everything we depend on, in an environment of their own
test-oldest:
	$(PYTHON) -m venv .venv-oldest
	.venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check -c constraints/oldest.txt -e '.[all,test]'
	.venv-oldest/bin/python -m pytest -q

bench: $(VENV)/.ready
	for script in benchmarks/bench_*.py; do $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) .venv-oldest svdecode-demo .pytest_cache .mypy_cache .ruff_cache .hypothesis docs/_build docs/auto_examples
