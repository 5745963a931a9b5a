"""Models and runs for the tests of the TLC runner."""
