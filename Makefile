# rediscover: `make all` runs the studies, `make test` checks everything. Use PY=python to keep an environment of your own.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

PROFILE ?= reference
PYTHON ?= python3
VENV := .venv
PY ?= $(VENV)/bin/python
READY := $(if $(filter file,$(origin PY)),$(VENV)/.ready)
NOTEBOOKS := $(notdir $(basename $(wildcard notebooks/[0-9]*.ipynb)))
STUDY ?= $(NOTEBOOKS)
RECORDS := $(wildcard records/SHA256SUMS)
BUILD := build/$(PROFILE)
TABLES := $(if $(filter smoke,$(PROFILE)),$(BUILD)/)tables
# The three that take longest come first, so that none of them is left over when all others are done.
LONGEST := 80_outside 70_what_the_model_adds 10_surface_benchmark
EXECUTED := $(patsubst %,$(BUILD)/%.ipynb,$(foreach name,$(LONGEST),$(filter $(name),$(STUDY))) $(filter-out $(LONGEST),$(STUDY)))
# A sample of the records is checked where they were used for all notebooks.
CHECKED := $(if $(and $(RECORDS),$(filter reference,$(PROFILE)),$(if $(FRESH),,yes),$(if $(filter-out $(STUDY),$(NOTEBOOKS)),,yes)),$(BUILD)/spot_checks.done)

export JUPYTER_PREFER_ENV_PATH := 1
ifdef FRESH
export REDISCOVER_FRESH := $(FRESH)
endif
ifdef RETRY
export REDISCOVER_RETRY := $(RETRY)
endif
export REDISCOVER_PROGRESS ?= $(shell tty -s && tty || echo off)

ifneq ($(filter-out $(NOTEBOOKS),$(STUDY)),)
$(error no study is called $(filter-out $(NOTEBOOKS),$(STUDY)); the studies are $(NOTEBOOKS))
endif
ifeq ($(filter $(PROFILE),smoke reference paper),)
$(error no profile is called $(PROFILE); the profiles are smoke, reference and paper)
endif

ifeq ($(filter generate,$(MAKECMDGOALS))$(MODEL),generate)
$(error name a model: make generate MODEL=... BASE_URL=http://localhost:8000/v1)
endif

# Two notebooks at a time where they read records, as a part of each uses one processor; what runs anew has all for itself.
JOBS ?= $(if $(and $(RECORDS),$(filter reference,$(PROFILE))),$(if $(FRESH)$(RETRY),1,2),1)
ifeq ($(filter all,$(MAKECMDGOALS))$(MAKELEVEL),all0)
MAKEFLAGS += -j$(JOBS)
endif

.PHONY: help all smoke publish site html paper test test-fast slow-tests test-minutes test-pysr coverage lint records spot-check submissions generate model serve-model pretrain bench intervals lab refresh cost whole trees given-up clean distclean lock run-times FORCE

help: ## show this help
	@echo "make all [PROFILE=smoke|paper] [STUDY=10_surface_benchmark] [FRESH=1] [RETRY='error timeout'] [JOBS=1]"
	@sed -nE 's/^([a-z-]+):.* ## /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 24
	@echo "For maintainers:"
	@sed -nE 's/^([a-z-]+):.* ### /  make \1\t/p' $(MAKEFILE_LIST) | expand -t 24
	@echo "Studies: $(NOTEBOOKS)"

all: $(EXECUTED) $(CHECKED) $(if $(filter-out smoke,$(PROFILE)),publish) ## run every study (or STUDY), fill figures/ and tables/, and publish
	@echo "$(PROFILE): up to date; executed notebooks are in $(BUILD)/"
ifeq ($(PROFILE)$(filter-out $(STUDY),$(NOTEBOOKS)),reference)
	@command -v latexmk >/dev/null || { echo "no LaTeX here, so the paper is not typeset: make paper says what it needs"; exit 0; }; \
	    ($(TYPESET)) && echo "the paper is build/paper/main.pdf"
endif

smoke: ## every notebook on a few problems, results under build/smoke
	@$(MAKE) --no-print-directory all PROFILE=smoke STUDY="$(STUDY)"

# Beside a target lies a file with digests of all that it depends on and of all that it wrote: this program gives it a
# later time than the target's if one of them is another now. With `make -n` too, hence the +.
MADE := $(if $(READY),$(PYTHON),$(PY)) -S -E lib/rediscover/system/made.py
.PRECIOUS: $(BUILD)/.%.digests
$(BUILD)/.%.digests: FORCE | $(READY)
	+@$(MADE) $(BUILD)/$* $(if $(filter %.ipynb,$*),notebooks/$* params/$(basename $*).yaml $(RECORDS)) $(READS_$(basename $*))

# Papermill leaves its output when a cell fails, and two makes may run at once: each writes a file of its own.
$(BUILD)/%.ipynb: $(BUILD)/.%.ipynb.digests $(READY) $(if $(RETRY),FORCE)
	@$(PY) -m rediscover check params/$*.yaml --profile $(PROFILE)
	@part=$(@D)/.$*.$$$$.ipynb; failed=$(@D)/$*.failed.ipynb; rm -f $$failed; \
	echo "$*: running the $(PROFILE) profile"; \
	$(PY) -m papermill notebooks/$*.ipynb $$part -p profile $(PROFILE) -k python3 --no-progress-bar --log-level ERROR \
	    && mv $$part $@ && $(MADE) --keep $@ || { mv -f $$part $$failed; echo "$*: failed; see $$failed" >&2; exit 1; }

# Recorded runs that are run again; all of them must answer as recorded.
$(BUILD)/spot_checks.done: $(BUILD)/.spot_checks.done.digests $(READY) | $(EXECUTED)
	@$(PY) -m rediscover spot-check --seed 0 --seconds 30 --out $(BUILD)/spot_checks.csv
	@echo $(BUILD)/spot_checks.csv >$@ && $(MADE) --keep $@

# What is committed of notebooks and pages is written last, and nothing above depends on it. Alone it takes what was run before.
publish: $(BUILD)/publish.done ### write what is committed: outputs of notebooks, facts in their text and in README, docs and paper
$(BUILD)/publish.done: $(BUILD)/.publish.done.digests $(READY)
	@REDISCOVER_FRESH=0 $(PY) -m rediscover.publish $@ && $(MADE) --keep $@ # some facts are of the records

# Three notebooks read tables that others wrote; the ledger follows all others, as they decide its verdicts.
READS_41_mdbench_pdes := $(TABLES)/mdbench_odes_matches.csv
READS_60_cross_scoring := $(TABLES)/*_scores.csv $(TABLES)/*_budgets.csv
READS_90_ledger := $(TABLES)/*_ledger.csv $(TABLES)/*_claims.csv
READS_spot_checks := params/*.yaml $(RECORDS)
READS_publish := tables/*.csv $(NOTEBOOKS:%=$(BUILD)/%.ipynb) paper/main.tex
$(BUILD)/.41_mdbench_pdes.ipynb.digests: | $(filter %/40_mdbench_odes.ipynb,$(EXECUTED))
$(BUILD)/.60_cross_scoring.ipynb.digests: | $(filter-out %/60_cross_scoring.ipynb %/90_ledger.ipynb,$(EXECUTED))
$(BUILD)/90_ledger.ipynb: $(filter-out %/90_ledger.ipynb,$(EXECUTED))
ifneq ($(filter-out publish paper,$(or $(MAKECMDGOALS),help)),)
$(BUILD)/publish.done: $(EXECUTED) $(CHECKED)
$(BUILD)/.publish.done.digests: | $(EXECUTED) $(CHECKED)
endif

site: $(READY) ## the explorer: studies, problems, methods, ledger, claims, audits, notebooks and API, under build/site
	$(PY) -m rediscover.publish.site

html: $(READY) ### the notebooks as pages to read or print, their code folded where it draws, under build/html
	$(PY) -m rediscover.publish.stories

TYPESET = mkdir -p build/paper && cd paper && latexmk -pdf -silent -halt-on-error -interaction=nonstopmode -outdir=../build/paper main.tex \
    >../build/paper/latexmk.txt 2>&1 || { grep -hsA3 '^!' ../build/paper/{latexmk.txt,main.log} >&2; exit 1; }
paper: publish ## the paper, paper/main.pdf, from the tables and figures there are (needs LaTeX)
	@command -v latexmk >/dev/null || { echo "make paper needs LaTeX. On Debian: apt-get install --no-install-recommends" \
	    "$$(cat paper/debian.txt)" >&2; exit 1; }
	@$(TYPESET)
	@cp build/paper/main.pdf paper/main.pdf && echo "paper/main.pdf is ready"

# Three notebooks read what others wrote and come after them, one after the other.
READING := $(patsubst %,tests/notebooks/%.ipynb,41_mdbench_pdes 60_cross_scoring 90_ledger)
test: lint ## the linters and the whole test suite, the notebooks among it
	$(PY) -m pytest -n auto --maxprocesses 4 --dist loadfile $(READING:%=--ignore %) tests lib
	$(PY) -m pytest $(READING)

QUICK := "not whole and not minutes and not pysr and not slow"
test-fast: $(READY) ## the quick tests, less than a minute
	$(PY) -m pytest -n auto --maxprocesses 4 --dist loadfile -m $(QUICK) -o addopts="--doctest-modules" \
	    --ignore=lib/rediscover/search/networks/training tests lib

# Four times: what a slow test has set up or compiled for others is another's to do when it is left out. Nothing is compiled before.
slow-tests: $(READY) ### time the tests on an idle machine and list those that test-fast leaves out, tests/slow.txt
	: >tests/slow.txt
	export REDISCOVER_TIME_TESTS=1; for pass in 1 2 3 4; do \
	    NUMBA_CACHE_DIR=$$(mktemp -d) $(PY) -m pytest -q -m $(QUICK) -o addopts="--doctest-modules" \
	    --ignore=lib/rediscover/search/networks/training tests lib; done

# Not a part of `make test`: to measure costs a quarter of the time.
coverage: export COVERAGE_FILE := $(CURDIR)/build/coverage/data
coverage: $(READY) ### which lines of the library the quick tests reach
	@rm -rf build/coverage && mkdir -p build/coverage
	$(PY) -m coverage run -m pytest -n auto --maxprocesses 4 --dist loadfile -m $(QUICK) -o addopts="--doctest-modules" \
	    --ignore=lib/rediscover/search/networks/training tests lib
	@$(PY) -m coverage combine --quiet
	@$(PY) -m coverage report --skip-covered --sort=cover

test-pysr: $(READY) ### the tests that run PySR (Julia, and pip install -e '.[pysr]')
	$(PY) -m pytest -m pysr tests/test_pysr.py

test-minutes: $(READY) ### the long checks of the search engines
	$(PY) -m pytest -m minutes tests

lint: $(READY) ### style and types: ruff on everything, mypy on the library
	$(PY) -m ruff check lib tests benchmarks integrations notebooks
	$(PY) -m ruff format --check lib tests benchmarks integrations
	$(PY) -m mypy

model: $(READY) ## a small language model into the user's cache (98 MB), and what serves it
	$(PY) -m pip install --quiet --no-build-isolation -e '.[model]'
	@$(PY) -m rediscover.llm.local fetch

serve-model: $(READY) ## a server for it, or for MODEL_FILE=..., on this machine (PORT=8080)
	@$(PY) -m rediscover.llm.local serve $(if $(MODEL_FILE),--file "$(MODEL_FILE)") $(if $(PORT),--port $(PORT))

records: $(READY) ## do the runs that are not in records/ yet (STUDY=..., METHOD=..., HOURS=2, WORKERS=..., LIST=1)
	@$(PY) -m rediscover records $(if $(filter-out file,$(origin STUDY)),$(STUDY)) $(if $(METHOD),--methods $(METHOD)) \
	    $(if $(HOURS),--hours $(HOURS)) $(if $(WORKERS),--workers $(WORKERS)) $(if $(LIST),--list) \
	    $(if $(SHARD),--shard $(SHARD)) $(if $(INTO),--into $(INTO)) $(if $(MERGE),--merge $(MERGE)) \
	    $(if $(PREFER),--prefer $(PREFER))

spot-check: $(READY) ### run a sample of the recorded runs again and compare the answers (SEED=1 SIZE=300 SECONDS=5)
	@$(PY) -m rediscover spot-check $(if $(SEED),--seed $(SEED)) $(if $(SIZE),--size $(SIZE)) \
	    $(if $(SECONDS),--seconds $(SECONDS))

submissions: $(READY) ### run a sample of the submitted rows again and compare answers and scores (SEED=1 SIZE=20)
	@$(PY) -m rediscover spot-check --submissions $(if $(SEED),--seed $(SEED)) $(if $(SIZE),--size $(SIZE))

generate: $(READY) ## ask MODEL at BASE_URL for the formulas of the bundled passages (JUDGE=..., LIMIT=..., YES=1, OPTIONS="--timeout 300")
	@$(PY) -m rediscover.studies.passages.generate --model "$(MODEL)" $(if $(BASE_URL),--base-url "$(BASE_URL)") \
	    $(if $(JUDGE),--judge "$(JUDGE)") $(if $(LIMIT),--limit $(LIMIT)) $(OPTIONS)

pretrain: $(READY) ### train a network again, into the user's cache (needs the extra neural; MODEL=trained_skeletons HOURS=2)
	@$(PY) -m rediscover.studies.srsd.pretraining $(if $(MODEL),--model $(MODEL)) $(if $(HOURS),--hours $(HOURS))

bench: $(READY) ### compare speed with named alternatives, into tables/bench.csv; what a fit costs, into docs/methods.md
	$(PY) benchmarks/speed.py
	$(PY) benchmarks/envelope.py

run-times: $(READY) ### time MDBench's methods on its fields, with nothing beside it; beside Table A7
	$(PY) benchmarks/run_times.py

intervals: $(READY) ### do the simulated fits that benchmarks/intervals.csv lacks; how often intervals hold, into docs/own-data.md
	$(PY) benchmarks/intervals.py

lab: $(READY) ## open JupyterLab on the notebooks
	$(PY) -m jupyterlab notebooks

refresh: $(READY) ### execute the code of all notebooks with the smoke profile into tests/notebooks, for nbval
	REDISCOVER_PROGRESS=off $(PY) -m rediscover.publish.outputs
	@$(PY) tests/processors.py

trees: $(READY) ### record the trees of expressions that the user's cache holds, so that a clone need not make them
	@$(PY) -m rediscover.metrics.compared_trees

given-up: $(READY) ### list the computer algebra that took too long for a result, so that it is given up on everywhere
	@$(PY) -m rediscover.system.given_up

cost: $(READY) ### measure time and memory of the smoke and reference profiles, from scratch, into tables/cost.csv
	$(PY) benchmarks/cost.py

# Where the model or its server cannot be had, the tests that ask it are skipped, and say which of the two is missing.
whole: $(READY) ### the long tests of a clone, three hours: no network, ten interruptions, one processor, a busy machine, an old one, any parameter, a real model
	-@$(MAKE) --no-print-directory model
	$(PY) -m pytest -rs -m whole tests/test_whole.py tests/test_exploring.py tests/test_local_model.py

clean: ## remove build/ (stores of finished runs among it)
	rm -rf build paper/main.pdf

distclean: clean ### remove the environment too
	rm -rf $(VENV) lib/*.egg-info

$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "rediscover needs Python 3.11 or newer; set PYTHON=/path/to/it")'
	$(PYTHON) -m venv --clear $(VENV)
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@sed -i.old 's/"{connection_file}"/&, "--log-level=CRITICAL"/' $(VENV)/share/jupyter/kernels/python3/kernel.json # it logs each start and the interrupt that ends it
	@touch $@

EXTRAS := notebooks llm text fields baselines networks causal cluster dev
lock: ### compile requirements.lock again from pyproject.toml (needs uv)
	uv pip compile pyproject.toml $(EXTRAS:%=--extra %) --universal --python-version 3.11 \
	    --no-header --no-annotate --generate-hashes -o requirements.lock
