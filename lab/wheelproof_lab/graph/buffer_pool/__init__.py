"""Comparison of the buffer pool's states with those of BufferPool.tla."""
