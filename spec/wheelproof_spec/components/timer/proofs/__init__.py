"""What of the timer is proved for any number of threads."""
