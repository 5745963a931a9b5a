"""Work under which the counter is recorded."""
