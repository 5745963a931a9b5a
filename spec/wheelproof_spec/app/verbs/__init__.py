"""The verbs of `wheelproof`, one file each; `declare` declares the arguments of a verb."""
