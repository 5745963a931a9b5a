"""Campaigns of `wheelproof metamorphic`: what is varied, who judges it, what is kept of it."""
