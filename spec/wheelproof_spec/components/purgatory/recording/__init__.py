"""The load under which the reference's purgatory is recorded, and the recording of its calls."""
