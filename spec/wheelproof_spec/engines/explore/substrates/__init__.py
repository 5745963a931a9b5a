"""What threads under test run on: fibers that can be stopped inside a call and resumed."""
