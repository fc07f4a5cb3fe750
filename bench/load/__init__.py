"""A classroom without browsers: ``python -m bench.load``."""
