"""From lines to verdicts: how one task judges the ordered lines of runs."""
