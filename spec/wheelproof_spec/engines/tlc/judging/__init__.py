"""Judging runs of TLC against the manifest, and telling their counterexamples."""
