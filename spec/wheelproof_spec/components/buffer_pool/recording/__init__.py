"""Work under which the reference's buffer pool is recorded, and how its calls are."""
