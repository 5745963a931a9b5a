"""Properties of the buffer pool that are proved for any number of threads and any sizes."""
