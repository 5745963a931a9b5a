"""A bounded counter: the smallest component that is driven, recorded, fuzzed, explored, drawn."""
