# Benchmarks against peers, in an environment of their own. Included by the Makefile.
PYTHON ?= python3
BENCH_VENV ?= .venv-bench
BENCH_PYTHON = $(BENCH_VENV)/bin/python
BENCH_ARGS ?=
# MLflow's server needs the whole distribution (620 MB), apart from the skinny one whose import is measured.
MLFLOW_VENV ?= .venv-mlflow
MLFLOW_PIN := 3.17.2
export BENCH_MLFLOW_PYTHON ?= $(if $(wildcard $(MLFLOW_VENV)/.ready),$(CURDIR)/$(MLFLOW_VENV)/bin/python)

# One package at a time: a peer that cannot be had must not keep the others from being measured.
$(BENCH_VENV)/.ready: bench/requirements.txt pyproject.toml
	test -x $(BENCH_PYTHON) || $(PYTHON) -m venv $(BENCH_VENV)
	$(BENCH_PYTHON) -m pip install --quiet --disable-pip-version-check --editable .
	grep -v '^#' bench/requirements.txt | while read -r package; do \
		$(BENCH_PYTHON) -m pip install --quiet --disable-pip-version-check "$$package" || echo "not installed: $$package"; done
	touch $@

$(MLFLOW_VENV)/.ready: bench/bench.mk
	test -x $(MLFLOW_VENV)/bin/python || $(PYTHON) -m venv $(MLFLOW_VENV)
	$(MLFLOW_VENV)/bin/python -m pip install --quiet --disable-pip-version-check mlflow==$(MLFLOW_PIN)
	touch $@

.PHONY: bench bench-serve bench-queue bench-watch bench-nfs bench-quick
bench: $(BENCH_VENV)/.ready  ## measure Paddock and its peers side by side (about an hour)
	$(BENCH_PYTHON) -m bench $(BENCH_ARGS)

bench-serve: $(BENCH_VENV)/.ready $(MLFLOW_VENV)/.ready  ## the server beside MLflow's, TensorBoard's and a bare one (about half an hour)
	BENCH_MLFLOW_PYTHON="$(CURDIR)/$(MLFLOW_VENV)/bin/python" $(BENCH_PYTHON) -m bench --only serve $(BENCH_ARGS)

bench-queue: $(BENCH_VENV)/.ready  ## the queue and its peers only (about half an hour)
	$(BENCH_PYTHON) -m bench --only queue,latency,submit,backlog,idle $(BENCH_ARGS)

bench-watch: $(BENCH_VENV)/.ready  ## checkpoints and their evaluations (about half an hour)
	$(BENCH_PYTHON) -m bench --only watch,watch_idle $(BENCH_ARGS)

bench-nfs: $(BENCH_VENV)/.ready  ## a task's begin after its submission on a real NFS; needs root and bench/nfs/boot.sh's list
	sh bench/nfs/boot.sh "$(CURDIR)/$(BENCH_PYTHON)"

bench-quick: $(BENCH_VENV)/.ready  ## the same with little data and two rounds: shows that it works, judges nothing
	$(BENCH_PYTHON) -m bench --quick $(BENCH_ARGS)
