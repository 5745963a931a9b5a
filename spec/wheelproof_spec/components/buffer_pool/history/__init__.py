"""The judge of a pool's recorded history."""
