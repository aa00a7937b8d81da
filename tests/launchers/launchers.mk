# Real launchers, in an environment of their own: torchrun comes with torch, mpirun from the system (openmpi-bin).
# Included by the Makefile.
LAUNCHERS := .venv-launchers

.PHONY: test-launchers
$(LAUNCHERS)/.ready: pyproject.toml
	test -x $(LAUNCHERS)/bin/python || $(PYTHON) -m venv $(LAUNCHERS)
	$(LAUNCHERS)/bin/python -m pip install --quiet --disable-pip-version-check torch==$(TORCH) numpy pytest hypothesis -e .
	touch $@

test-launchers: $(LAUNCHERS)/.ready  ## ranks of a real torchrun and of a real mpirun write one run
	$(LAUNCHERS)/bin/python -m pytest -W default tests/launchers
