"""How the calls of the reference's timer are recorded."""
