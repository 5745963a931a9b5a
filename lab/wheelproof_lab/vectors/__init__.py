"""The generator of the timer's published vectors."""
