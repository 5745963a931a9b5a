"""What breaks one clause of a right history, a file a component."""
