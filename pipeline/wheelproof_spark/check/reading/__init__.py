"""Files as lines: what one task reads, unpacks and parses."""
