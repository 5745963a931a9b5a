"""The buffer pool under the model checker."""
