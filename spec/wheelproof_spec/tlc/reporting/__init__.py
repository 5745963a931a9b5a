"""The output of a run of models: progress, table, document, numbers for the manifest."""
