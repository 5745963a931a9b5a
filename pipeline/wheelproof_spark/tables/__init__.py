"""Stored data: schemas, rows, manifests, and their outcomes."""
