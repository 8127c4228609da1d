# Every target sets up what it needs; set up already, that costs nothing.
PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
BARE := .venv-numpy2
STAMP := $(VENV)/.ready
BARE_STAMP := $(BARE)/.ready
JOBS ?= 2
EXECUTIONS ?= 2000000
SEED ?= 1
CASES ?= 100
SETUP_FILES := pyproject.toml constraints.txt hatch_build.py $(wildcard native/*)

export PIP_DISABLE_PIP_VERSION_CHECK := 1
# MindSpore's convolutions are a hundred times slower with what it chooses where AVX-512 is.
export ONEDNN_MAX_CPU_ISA ?= AVX2
# The sources are compiled once, not by each of the hundreds of processes that the tests start.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test units numpy2 tables eval api-table fuzz check bench docs format clean help

help:
	@echo "make demo    the whole story in a minute: two recorded trainings, where they part and why"
	@echo "make test    everything that must be green (checks, tests, and the tests on NumPy 2 alone)"
	@echo "make check   ruff, format, mypy, import contracts"
	@echo "make eval    the big tables, whole"
	@echo "make api-table   every pair of APIs called in both frameworks, into the table of the package (CASES=100 SEED=1)"
	@echo "make fuzz    damaged files of every format (EXECUTIONS=2000000 SEED=1 JOBS=2)"
	@echo "make bench   ratios, measured side by side"
	@echo "make docs    write the generated pages"

$(STAMP): $(SETUP_FILES)
	@test -x $(PY) || $(PYTHON) -m venv $(VENV)
	$(PY) -m pip install --quiet --constraint constraints.txt --editable '.[all,dev]'
	@touch $@

$(BARE_STAMP): $(SETUP_FILES)
	@test -x $(BARE)/bin/python || $(PYTHON) -m venv $(BARE)
	$(BARE)/bin/python -m pip install --quiet --editable . 'numpy>=2' pytest pytest-timeout pytest-xdist hypothesis safetensors
	@touch $@

demo: $(STAMP)
	@$(PY) -m trueline demo

test: check units numpy2 tables

# One thread each: the workers share the cores, and small networks only wait for each other's threads.
units: $(STAMP)
	@sh tests/web/install_browser.sh
	OMP_NUM_THREADS=1 $(PY) -m pytest -q -n $(JOBS) --dist worksteal

# What neither computes with NumPy nor may import it is the same there: model, locale, and what is read in the sources.
numpy2: $(BARE_STAMP)
	$(BARE)/bin/python -m pytest -q -n $(JOBS) --dist worksteal tests/kernel tests/property tests/formats tests/report tests/fuzz --ignore tests/report/test_codes.py

check: $(STAMP)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

eval: $(STAMP)
	$(PY) tests/eval/killed_runs.py
	TRUELINE_WHOLE=1 OMP_NUM_THREADS=1 $(PY) -m pytest -q -n $(JOBS) --dist worksteal tests/pair tests/migrate tests/cli tests/record tests/watch tests/replay tests/repro tests/examples tests/formats/run_folder
	$(PY) tests/eval/ports.py
	$(PY) tests/eval/transformer_ports.py --jobs $(JOBS)
	$(PY) tests/eval/watch.py
	$(PY) tests/eval/datasets.py
	$(PY) tests/eval/pipelines.py
	$(PY) tests/eval/tune.py
	$(PY) tests/eval/checks.py
	$(PY) tests/eval/script_pairs.py --write
	$(PY) tests/eval/silent_errors.py --jobs $(JOBS) --write
	$(PY) tests/eval/worst_files.py

# The pairs of APIs called in both frameworks: what ``trueline api`` shows, and scan and rewrite go by.
# torchvision's wheel would bring another torch: its transforms do without its operators.
api-table: $(STAMP)
	@test -d $(VENV)/vision || $(PY) -m pip install --quiet --no-deps --target $(VENV)/vision torchvision
	PYTHONPATH=$(CURDIR)/$(VENV)/vision OMP_NUM_THREADS=1 $(PY) -m trueline api --run --cases $(CASES) --seed $(SEED) --jobs $(JOBS) --force -o src/trueline/apitable/measured.jsonl

fuzz: $(STAMP)
	$(PY) tests/fuzz/run.py --all --executions $(EXECUTIONS) --seed $(SEED) --jobs $(JOBS) --table

tables: $(STAMP)
	@$(PY) tests/eval/tables.py

bench: $(STAMP)
	$(PY) benchmarks/all.py

docs: $(STAMP)
	$(PY) docs/generate.py
	$(PY) docs/picture.py

format: $(STAMP)
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

clean:
	rm -rf $(VENV) $(BARE) build dist .mypy_cache .ruff_cache .hypothesis src/trueline/kernel/_native.so
