"""Judging runs of TLC against the manifest, and explaining their counterexamples."""
