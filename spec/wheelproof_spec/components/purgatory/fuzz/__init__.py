"""The machines that fuzz the purgatory."""
