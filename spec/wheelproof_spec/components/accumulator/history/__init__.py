"""The judge of an accumulator's recorded history."""
