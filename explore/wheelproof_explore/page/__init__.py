"""The page of an exploration."""
