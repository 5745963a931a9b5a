"""Work under which the reference is recorded; the same as the Java adapters do to theirs."""
