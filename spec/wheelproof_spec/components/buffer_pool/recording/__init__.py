"""The load under which the reference's pool is recorded, and the recording of its calls."""
