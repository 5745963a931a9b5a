"""Recording the calls of real threads and the answers."""
