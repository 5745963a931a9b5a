"""The verb ``pipeline campaign``: fuzzing and model-checker samples, by seed."""
