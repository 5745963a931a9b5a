"""How the states of the buffer pool compare with those of BufferPool.tla."""
