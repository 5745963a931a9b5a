"""What tests of graph mode share."""
