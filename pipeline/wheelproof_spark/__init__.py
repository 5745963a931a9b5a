"""Conformance at scale: recorded runs are judged on Apache Spark by the checkers of `check`."""
