"""The parameters of the page: what is looked for, and the order of the terms."""

from viz import limits
from viz.params import Choice, Text

TERM = Text("term", longest=limits.LOOKED_UP)
ORDER = Choice("listed", among=("theme", "alphabet"))
