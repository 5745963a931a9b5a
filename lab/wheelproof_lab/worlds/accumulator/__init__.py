"""The accumulator under the model checker."""
