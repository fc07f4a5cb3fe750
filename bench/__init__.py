"""Measure the app beside what it should be compared with: ``python -m bench``. No test asserts a time."""
