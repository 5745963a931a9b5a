"""What of the pool of buffers is proved for any number of threads, and any sizes."""
