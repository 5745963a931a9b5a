"""What the tests of `wheelproof_spec.testing` use: purgatories to be tested, threads in order."""
