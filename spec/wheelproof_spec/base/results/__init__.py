"""The results of judges: violations, tallies and verdicts, and the three forms of reports."""
