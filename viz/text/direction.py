"""Words that are written from right to left, among words that are not.

Each is set apart (isolated), so that its marks and punctuation stay on its own side, and nothing around it moves.
``client/lib/direction.js`` does the same in the browser.
"""

import re

RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_OPEN, _CLOSE = "\u2068", "\u2069"
"""First strong isolate, and its end: the direction is that of the first letter inside."""


def isolate(text: str) -> str:
    """Return a word for a sentence or a list; one that has no letter from right to left stays as it is.

    Example:
        >>> isolate("it"), isolate("של") == chr(0x2068) + "של" + chr(0x2069)
        ('it', True)
    """
    return f"{_OPEN}{text}{_CLOSE}" if RIGHT_TO_LEFT.search(text) else text
