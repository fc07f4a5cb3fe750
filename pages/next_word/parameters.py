"""The parameters that suit a text: another text has its own defaults for them."""

from typing import Final

from viz import limits
from viz.models.tokens import Tokens
from viz.params import Ints, Text, TokenIndex


def _is_word(word: str) -> bool:
    return 0 < len(word.strip()) <= limits.FOLLOWED_CHARACTERS


def _last(tokens: Tokens) -> int:
    return len(tokens.ids) - 1


AT: Final = TokenIndex("next_at", _last, high=_last, words=lambda tokens: tokens.labels)
"""The token after which the model is asked; at first the last."""
FOLLOW: Final = Text("follow", lambda usual: usual, allows=_is_word)
"""The word that is followed: of the likeliest, or any that is typed."""
AGAINST: Final = FOLLOW.variant(name="against")
"""The word that it is compared with."""
SWAP_WITH: Final = Text("swap_with", lambda usual: usual, longest=limits.CHARACTERS)
"""The text whose states are swapped in."""
CUT: Final = Ints("cut")
"""Heads that are switched off: layer times H plus head."""
OF_THE_TEXT: Final = (AT, FOLLOW, AGAINST, SWAP_WITH, CUT)
