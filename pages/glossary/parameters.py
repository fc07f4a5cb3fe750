"""The parameters of the page: the search, and the order of the terms."""

from viz import limits
from viz.params import Choice, Text

TERM = Text("term", longest=limits.LOOKED_UP)
ORDER = Choice("listed", among=("theme", "alphabet"))
