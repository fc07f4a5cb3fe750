"""Lessons: data in ``assets/lessons``, and the functions that compute the right answers."""
