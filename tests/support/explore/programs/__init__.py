"""Texts of modules that are explored as a user's own."""
