"""The comparisons of code and module that come with the project."""
