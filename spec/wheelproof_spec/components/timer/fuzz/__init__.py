"""The machines that fuzz the timer."""
