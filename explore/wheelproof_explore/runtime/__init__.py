"""The controlled runtime: a model for each primitive of `wheelproof.sync`, and its steps."""
