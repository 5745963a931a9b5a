"""Where the published vectors of the timer come from."""
