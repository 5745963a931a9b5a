"""How a run can go wrong, what cannot be explored, and where in the program it happened."""
