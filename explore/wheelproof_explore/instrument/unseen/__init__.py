"""Code that is not rewritten: what a call into it, or a look at its objects, may touch."""
