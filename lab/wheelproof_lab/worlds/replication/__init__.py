"""The replica manager under the model checker."""
