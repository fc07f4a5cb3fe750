"""Lessons: data in ``assets/lessons``, and the functions that work out what the right answers are."""
