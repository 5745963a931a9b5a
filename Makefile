# Every target is a verb of bootstrap.py, which does its own set-up; make is a convenience.
PYTHON ?= python3
# How long `make hunt` hunts.
MINUTES ?= 10

.PHONY: setup run test test-long hunt check compile lock release

setup run test test-long check compile lock release:
	@$(PYTHON) bootstrap.py $@

hunt:
	@$(PYTHON) bootstrap.py hunt --minutes $(MINUTES)
