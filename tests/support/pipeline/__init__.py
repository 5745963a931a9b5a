"""What the tests of the pipeline share."""
