"""The load under which the reference's record accumulator is recorded, and its recorder."""
