"""Work under which the reference's record accumulator is recorded, and how its calls are."""
