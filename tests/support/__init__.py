"""What tests of several files share; no test imports a test."""
