"""Count how deeply a TOML file nests, in one pass over its characters, before a parser reads it.

``tomllib`` takes time and memory quadratic in the number of parts of one dotted key: 62 kB took 3.9 GB and 18 s.
Everything else in a file of that size costs it less than 0.1 s and 10 MB.
"""

import re

from viz import limits
from viz.lessons.lesson import OwnLessonError

_TOKEN = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+"{3,5}'  # a text may end in two quotes of its own
    r"|'''(?:[^']++|'(?!''))*+'{3,5}"
    r'|"(?!"")(?:[^"\\\n]++|\\[^\n])*+"'
    r"|'(?!'')[^'\n]*+'"
    r"|\#[^\n]*+"
    r"""|[.,=\n\[\]{}"']""",
    re.DOTALL,
)


def check_nesting(text: str, most: int = limits.OWN_LESSON_NESTING) -> None:
    """Refuse a file in which a key has more dots, or more brackets are open at once, than a lesson needs.

    Texts and comments are skipped. A quote or a bracket without its partner is refused as well: then it is not certain
    where a text ends.

    Args:
        text: the file.
        most: parts of a key, and brackets that are open at once.

    Raises:
        OwnLessonError: "nested" or "toml", with the line.
    """
    parts, is_open = 1, 0
    for token in _TOKEN.finditer(text):
        sign = token[0]
        if sign == ".":
            parts += 1
        elif sign in "[{":
            is_open += 1
        elif sign in "]}":
            is_open -= 1
        if len(sign) == 1 and sign in ",=\n[]{}":
            parts = 1
        if sign in ("'", '"') or is_open < 0:
            raise OwnLessonError("toml", line=_line(text, token))
        if max(parts, is_open) > most:
            raise OwnLessonError("nested", line=_line(text, token), most=most)


def _line(text: str, token: re.Match[str]) -> int:
    return text.count("\n", 0, token.start()) + 1
