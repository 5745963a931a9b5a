"""The proofs about the purgatory for any number of threads."""
