PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
JOBS ?= 2

.PHONY: install demo test test-long soak check docs dist hooks format clean

install: $(VENV)/installed-

demo: $(VENV)/installed-
	PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh

# Most of the time goes into compiling programs that run once: they are compiled with little optimisation.
test: $(VENV)/installed-test
	PYTHONDONTWRITEBYTECODE= JAX_DISABLE_MOST_OPTIMIZATIONS=1 $(BIN)/python -m pytest -n $(JOBS)

# With those that need the packages of ONNX, which are left out where they are not installed.
test-long: $(VENV)/installed-test $(VENV)/installed-onnx
	$(BIN)/python -m pytest -n $(JOBS) -m long
	$(BIN)/python -m pytest -n $(JOBS) tests/bundles tests/test_own_environment.py tests/test_continuous.py

# Hours: trainings that are killed hundreds of times. Figures in docs/reliability.md.
soak: $(VENV)/installed-test
	$(BIN)/python -m tests.soak $(SOAK)

check: $(VENV)/installed-check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# Into dist/docs. A broken link or a page that is in no menu fails.
docs: $(VENV)/installed-docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "dist/docs/index.html"

# A source archive, and a wheel built from it, into dist.
dist: $(VENV)/installed-dist
	$(BIN)/python -m build --outdir dist

# From now on every commit is checked before it is made.
hooks: $(VENV)/installed-check $(VENV)/installed-hooks
	$(BIN)/pre-commit install

format: $(VENV)/installed-check
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf $(VENV)

# One stamp per set of extras: rerunning is quick, and a changed pyproject.toml installs anew.
$(VENV)/installed-%: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[$*]'
	touch $@

$(VENV)/installed-: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@
