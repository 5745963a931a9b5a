"""The load under which the reference's timer is recorded, and the recording of its calls."""
