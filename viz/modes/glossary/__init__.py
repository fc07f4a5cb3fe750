"""Terms of the field: marked in the sentences of every page."""

from viz.modes.glossary.marks import MODE

__all__ = ["MODE"]
