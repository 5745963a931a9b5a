"""The verbs of `wheelproof`, one file each."""
