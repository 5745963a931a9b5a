"""The tables in the READMEs of the TLA+ folders, made from modules, manifest and docstrings."""
