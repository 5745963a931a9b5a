"""The machines that fuzz the replica manager."""
