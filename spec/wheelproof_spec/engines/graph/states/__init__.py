"""Every reachable state of a program: found, named, and seen as a view shows it."""
