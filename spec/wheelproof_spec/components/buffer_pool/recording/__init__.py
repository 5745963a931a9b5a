"""How the calls of the reference's pool are recorded."""
