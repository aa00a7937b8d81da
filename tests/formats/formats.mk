# Checkpoints of the real libraries, in an environment of their own (about 3 GB). Included by the Makefile.
FORMATS := .venv-formats
TORCH ?= 2.13.0

.PHONY: test-formats
$(FORMATS)/.ready: tests/formats/requirements.txt pyproject.toml
	test -x $(FORMATS)/bin/python || $(PYTHON) -m venv $(FORMATS)
	$(FORMATS)/bin/python -m pip install --quiet --disable-pip-version-check torch==$(TORCH)
	$(FORMATS)/bin/python -m pip install --quiet --disable-pip-version-check -r tests/formats/requirements.txt -e .
	touch $@

test-formats: $(FORMATS)/.ready  ## what torch, transformers, lightning, accelerate, orbax and deepspeed write is watched
	$(FORMATS)/bin/python -m pytest -W default --durations=0 tests/formats
