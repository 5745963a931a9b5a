"""The purgatory: operations that wait for a condition or for their time."""
