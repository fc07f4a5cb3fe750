"""Terms of the field: marked in the sentences of every page, and what letters of a formula are called elsewhere."""

from viz.modes.glossary.marks import MODE

__all__ = ["MODE"]
