"""What tests of drivers and adapters share."""
