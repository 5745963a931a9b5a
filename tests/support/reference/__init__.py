"""What tests of the reference share."""
