"""The page docs/verdicts.md: what the shipped adapters' implementations keep, and what not."""
