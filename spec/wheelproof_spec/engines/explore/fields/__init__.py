"""Plain fields that threads share: watched, held to their declared locks, searched for races."""
