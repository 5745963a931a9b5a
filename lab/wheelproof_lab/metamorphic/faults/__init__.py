"""What breaks one clause of a right history of a component, and what may be varied of it."""
