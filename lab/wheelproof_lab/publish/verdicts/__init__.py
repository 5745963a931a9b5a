"""The page docs/verdicts.md: which promises the shipped adapters' implementations keep."""
