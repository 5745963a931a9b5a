"""The ways of Python to read and write shared state, each as a program for the model checker."""
