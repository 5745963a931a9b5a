"""The judge of a timer's recorded history."""
