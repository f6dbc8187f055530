# Two commands set everything up on a fresh machine: `make reproduce` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: reproduce test test-train browser lint benchmark clean

reproduce: .venv/installed
	$(BIN)/workbench reproduce

# Tests in a browser want Chromium, and are skipped where there is none: `make browser` installs it.
test: lint
	$(BIN)/python -m pytest --numprocesses auto --dist loadfile

# What needs torch: tuning a judge. It is a gigabyte that nothing else wants.
test-train: .venv/trainable
	$(BIN)/python -m pytest tests/train

SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)

browser:
	@command -v chromium || command -v chromium-browser || command -v google-chrome \
	  || { $(SUDO) apt-get -qq update && $(SUDO) apt-get -qq install -y --no-install-recommends chromium fonts-dejavu-core; }

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

benchmark: .venv/installed
	@for script in tests/benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

# Made again when what to install has changed; a half-made one has no stamp.
.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "workbench needs Python 3.11 or later; this is %s. Name another: make PYTHON=python3.12" % sys.version.split()[0])'
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	touch $@

# torch first and by itself, or a plain install may bring gigabytes for graphics cards.
.venv/trainable: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt torch
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test,train]'
	touch $@

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
