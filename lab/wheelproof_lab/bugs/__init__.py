"""The known bugs: real defects, brought back in variants of the reference."""
