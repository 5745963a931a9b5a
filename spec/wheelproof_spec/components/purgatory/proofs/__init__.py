"""What of the purgatory is proved for any number of threads."""
