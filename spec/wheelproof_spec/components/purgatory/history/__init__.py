"""The judge of a purgatory's recorded history."""
