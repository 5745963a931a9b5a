"""Recording what real threads ask for and get."""
