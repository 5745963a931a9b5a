"""The buffer pool: memory that threads wait for."""
