"""Plain fields that threads share: watching, checks of declared locks, data race detection."""
