"""What the model checker explores of the timer."""
