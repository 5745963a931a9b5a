"""What tests of the model checker share."""
