"""The machines that fuzz the buffer pool."""
