"""The manifest of models: what is checked, with which configuration, and how TLC has to end."""
