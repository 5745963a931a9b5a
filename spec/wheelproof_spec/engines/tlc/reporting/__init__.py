"""What a run of models shows: its progress, the table, the document, numbers for the manifest."""
