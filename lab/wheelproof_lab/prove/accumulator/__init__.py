"""Properties of the accumulator that are proved for any number of threads and any sizes."""
