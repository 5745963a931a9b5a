"""A failing run: made small, shown as a table, and recorded with all its states."""
