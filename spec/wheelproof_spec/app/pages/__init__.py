"""The HTML pages: each is one self-contained file, light and dark."""
