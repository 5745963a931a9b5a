"""What a judge says: violations, tallies and verdicts, and the three forms they are written in."""
