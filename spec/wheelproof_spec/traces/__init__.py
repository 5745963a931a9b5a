"""What implementations hand in: the schemas of traces, histories and vectors, readers, writers."""
