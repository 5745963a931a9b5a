"""The machine that fuzzes the counter."""
