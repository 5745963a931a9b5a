"""How the calls of the reference's purgatory are recorded."""
