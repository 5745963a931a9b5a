"""Properties of the timer that are proved for any number of threads."""
