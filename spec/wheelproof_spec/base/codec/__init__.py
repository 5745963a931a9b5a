"""What is on the wire, read off dataclasses: shapes, parsers, writers, JSON Schema."""
