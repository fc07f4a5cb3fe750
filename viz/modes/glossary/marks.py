"""Terms of the field in the sentences of a page: at its first place on the screen each opens what it means.

The browser's own popover opens, places and closes it; nothing is computed or sent before. No text of a user's passes
through here.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from html import escape
from operator import itemgetter

from viz.frame.links import heading, see
from viz.frame.modes import Mode
from viz.frame.shared import LANG
from viz.params.memory import Remembered
from viz.text import Translate, translator
from viz.text.glossary import Term, found_in, terms

_MARKED_TERMS: Remembered[frozenset[str]] = Remembered("_marked", default=frozenset())
_CODE, _STRONG, _EM = re.compile(r"`([^`]*)`"), re.compile(r"\*\*(.+?)\*\*"), re.compile(r"\*([^*]+)\*")
_OPENING, _CLOSING = re.compile(r"[(\[“‘（《]+\Z"), re.compile(r"(?:['’]s)?[,.;:!?)\]，。；：、）》”’？！]+|['’]s")
_BEYOND = re.compile(r"[$|<\n\\]|\]\(|:\w+[\[:]|^[#>-] ")
"""Markdown without an HTML equivalent here: formulas, tables, lists. Sentences with any of it are not marked."""


def begin(codes: Iterable[str] = ()) -> None:
    """Start a run: no terms are marked on the screen yet, but for these."""
    _MARKED_TERMS.set(frozenset(codes))


def mark(sentence: str) -> str:
    """Return a sentence, written in Markdown, as HTML that marks terms not on this screen before; "" if it has none."""
    lang, codes = LANG.value, _MARKED_TERMS.read()
    # Of a term that comes twice in the sentence the first place counts.
    first = {place[0]: place for place in reversed(_places(sentence, lang)) if place[0] not in codes}
    places = tuple(sorted(first.values(), key=itemgetter(1)))
    _MARKED_TERMS.set(codes | first.keys())
    if not places:
        return ""
    notes = "".join(_note(translator(lang), lang, terms()[code]) for code, _, _ in places)
    return f'<div class="says"><p>{_as_html(sentence, places)}</p><div role="status">{notes}</div></div>'


Place = tuple[str, int, int]
"""A term's code, and where in a sentence it begins and ends."""

MAX_SENTENCES = 512
"""Sentences whose terms are remembered: most of a page's are the same in its next run, and all are the app's own."""


@lru_cache(maxsize=MAX_SENTENCES)
def _places(sentence: str, lang: str) -> tuple[Place, ...]:
    """Return the places of terms in a sentence, except in code."""
    if _BEYOND.search(sentence):
        return ()
    without_code = _CODE.sub(lambda code: " " * len(code[0]), sentence)
    return tuple((term.code, start, end) for term, start, end in found_in(without_code, lang))


@lru_cache(maxsize=MAX_SENTENCES)
def _as_html(sentence: str, places: tuple[Place, ...]) -> str:
    """The sentence with its bold words, its code, and a button for each of these terms.

    A line may end on either side of a button, whatever stands there: so it is held together with the signs at it.
    """
    html, at = "", 0
    for code, start, end in places:
        opening, closing = _OPENING.search(sentence, at, start), _CLOSING.match(sentence, end)
        first, last = opening.start() if opening else start, closing.end() if closing else end
        button = f'<button type="button" popovertarget="term_{code}">{escape(sentence[start:end])}</button>'
        unbreakable = f"{escape(sentence[first:start])}{button}{escape(sentence[end:last])}"
        html += escape(sentence[at:first]) + (
            f"<span>{unbreakable}</span>" if (first, last) != (start, end) else unbreakable
        )
        at = last
    html += escape(sentence[at:])
    for pattern, tag in ((_CODE, "code"), (_STRONG, "strong"), (_EM, "em")):
        html = pattern.sub(rf"<{tag}>\1</{tag}>", html)
    return html


def _note(t: Translate, lang: str, term: Term) -> str:
    """Return the HTML of a pop-over: the term's names, letter and shape, meaning, and link."""
    return (
        f'<div popover id="term_{term.code}" class="term"><p>{_heading(lang, term.code)}</p>'
        f"<p>{escape(term.says[lang])}</p>{see(t, lang, term)}</div>"
    )


@lru_cache(maxsize=MAX_SENTENCES)
def _heading(lang: str, code: str) -> str:
    return heading(lang, terms()[code])


class GlossaryMode(Mode):
    """At its first place on the screen each term opens what it means."""

    def before(self, t: Translate) -> None:
        """Begin with no term marked."""
        begin()

    def mark(self, sentence: str) -> str:
        """Return the sentence with its terms marked that were not on this screen before."""
        return mark(sentence)

    def memory(self) -> frozenset[str]:
        """Return the terms that are marked outside a fragment."""
        return _MARKED_TERMS.read()

    def remember(self, memory: Iterable[str]) -> None:
        """Begin the run of a fragment with these terms marked."""
        begin(memory)


MODE = GlossaryMode()
