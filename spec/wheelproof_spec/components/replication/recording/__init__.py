"""How the calls of the reference's broker are recorded."""
