"""From files to lines: how one task reads, unpacks and parses."""
