"""The machines that fuzz the record accumulator."""
