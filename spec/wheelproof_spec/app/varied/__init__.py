"""Campaigns of `wheelproof metamorphic`: the variations, their judges, and the kept results."""
