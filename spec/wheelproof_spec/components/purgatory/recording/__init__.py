"""Work under which the reference's purgatory is recorded, and how its calls are."""
