"""Work under which the reference's timer is recorded, and how its calls are."""
