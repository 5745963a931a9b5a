"""Wire formats made from dataclasses: shapes, parsers, writers, JSON Schema."""
