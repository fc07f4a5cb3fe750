"""Parameters whose defaults depend on the text."""

from typing import Final

from viz import limits
from viz.models.tokens import Tokens
from viz.params import Ints, Scope, Text, TokenIndex


def _last(tokens: Tokens) -> int:
    return len(tokens.ids) - 1


AT: Final = TokenIndex("next_at", _last, high=_last, scope=Scope(lambda tokens: tokens.labels))
"""The token to predict after; the last one by default."""
FOLLOW: Final = Text(
    "follow", lambda default: default, allows=lambda word: 0 < len(word.strip()) <= limits.FOLLOWED_CHARACTERS
)
"""The followed word: of the likeliest, or any typed one."""
AGAINST: Final = FOLLOW.variant(name="against")
"""The word to compare it with."""
SWAP_WITH: Final = Text("swap_with", lambda default: default, longest=limits.CHARACTERS)
"""The text to swap heads with."""
CUT: Final = Ints("cut")
"""Heads to switch off: layer times H plus head."""
OF_THE_TEXT: Final = (AT, FOLLOW, AGAINST, SWAP_WITH, CUT)
