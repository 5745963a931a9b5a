"""The load under which the reference's broker is recorded, and the recording of its calls."""
