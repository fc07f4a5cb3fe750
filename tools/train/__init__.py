"""Trainings of the weights in ``assets/``: ``python -m tools.train NAME`` does one again, and writes what lies there.

NAME is ``twins``, ``layer_sharing``, ``today``, ``translator`` or ``digits``. The models' own code, their recipes and
records, is in ``viz/models/trained``.
"""
