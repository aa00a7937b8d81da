# Every fault at every instant, and the long soak. `make test` runs a sample of them. Included by the Makefile. Most of
# the time is spent waiting, so there are more processes than cores.
SOAK_ARGS ?=
FAULT_WORKERS ?= 4

.PHONY: test-faults soak
test-faults: $(VENV)/.ready  ## kills and disk errors at every system call, storms, skewed clocks (about 40 minutes)
	@command -v strace >/dev/null || { echo "make test-faults needs strace: apt install strace" >&2; exit 1; }
	@command -v faketime >/dev/null || echo "without faketime (apt install faketime) the test with skewed clocks is skipped"
	$(BIN)/python -m pytest -n $(FAULT_WORKERS) --all-faults tests/faults tests/unit/queue tests/unit/work/processes/test_guard.py tests/unit/monitor

soak: $(VENV)/.ready  ## 8 workers, 20,000 tasks, a kill every 200 ms; SOAK_ARGS="--tasks 1000" for a short one
	$(BIN)/python -m tests.faults.soak $(SOAK_ARGS)
