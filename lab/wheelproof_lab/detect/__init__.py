"""What each engine finds: known bugs and mutants, in a process of its own each."""
