# Every target is a verb of bootstrap.py, which does its own set-up; make is a convenience.
PYTHON ?= python3

.PHONY: setup run test test-long check compile lock release

setup run test test-long check compile lock release:
	@$(PYTHON) bootstrap.py $@
