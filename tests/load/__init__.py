"""A classroom without browsers: ``python -m tests.load``."""
