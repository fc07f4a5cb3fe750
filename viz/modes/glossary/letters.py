"""A formula's letters in other books, in a table behind a button."""

import streamlit as st

from viz.frame.shared import LANG
from viz.text import Translate
from viz.text.letters import BOOKS, Letter, letters_in


def translate_letters(t: Translate, page: str, section: str, latex: str) -> None:
    """A switch below a formula; when it is on, what its letters are called in other books.

    Nothing is looked for before the formula is opened, nothing is drawn before the switch is on.
    """
    letters = letters_in(latex, page, section)
    if letters and st.toggle(t("footer.letters"), key=f"_letters_{section}"):
        st.markdown(_table(t, letters))
        if any("d2l" in letter.elsewhere for letter in letters):
            st.caption(t("footer.letters_columns"))


def _table(t: Translate, letters: list[Letter]) -> str:
    """A line for each letter and what it is, a column for each book that has one of them: narrow enough for a phone."""
    lang = LANG.value
    books = [book for book in BOOKS if any(book in letter.elsewhere for letter in letters)]
    lines = [f"| {' | '.join([t('footer.letters_ours'), *map(BOOKS.__getitem__, books)])} |"]
    lines.append("|---" * (len(books) + 1) + "|")
    for letter in letters:
        theirs = [f"${letter.elsewhere[book]}$" if book in letter.elsewhere else "–" for book in books]
        lines.append(f"| ${letter.ours}$ · {letter.means[lang]} | {' | '.join(theirs)} |")
    return "\n".join(lines)
