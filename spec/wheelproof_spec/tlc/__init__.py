"""Running TLC, the TLA+ model checker, on a manifest of models and judging what it says."""
