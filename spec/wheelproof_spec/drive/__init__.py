"""Judging an implementation: ports, the driver protocol, cases, verdicts."""
