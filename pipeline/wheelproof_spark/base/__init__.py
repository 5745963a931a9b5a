"""Shared by all verbs of the pipeline: options, Spark's session, the output's folder."""
