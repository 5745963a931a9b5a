"""How the calls of the reference's record accumulator are recorded."""
