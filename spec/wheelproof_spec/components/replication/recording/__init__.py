"""Work under which the reference's broker is recorded, and how its calls are."""
