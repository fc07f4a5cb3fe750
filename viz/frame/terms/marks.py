"""Terms of the field in the sentences of a page: at its first place on the screen each opens what it means.

The browser does it by itself: a button names a pop-over, and opens it, places it, reads it out, and closes it on Esc.
So nothing is computed, asked for or drawn before somebody wants to know. No text of a visitor's passes through here.
"""

import re
from collections.abc import Iterator
from html import escape

import streamlit as st

from viz.frame.terms.links import see
from viz.text import LANGUAGES, Translate, translator
from viz.text.glossary import Term, found_in

_MARKED = "_marked"
_CODE, _STRONG, _EM = re.compile(r"`([^`]*)`"), re.compile(r"\*\*(.+?)\*\*"), re.compile(r"\*([^*]+)\*")
_OPENING, _CLOSING = re.compile(r"[(\[“‘（《]+\Z"), re.compile(r"(?:['’]s)?[,.;:!?)\]，。；：、）》”’？！]+|['’]s")
_BEYOND = re.compile(r"[$|<\n\\]|\]\(|:\w+[\[:]|^[#>-] ")
"""What only Markdown can show: formulas, tables, lists. A sentence with any of it stays as it is."""


def begin() -> None:
    """Start a run: no term is marked on the screen yet."""
    st.session_state[_MARKED] = set()


def say(sentence: str) -> None:
    """Show a sentence, written in Markdown, and mark the terms in it that have not been on this screen before."""
    lang, marked = st.session_state["lang"], st.session_state.setdefault(_MARKED, set())
    found = [] if _BEYOND.search(sentence) else list(_first_places(sentence, lang, marked))
    if not found:
        st.markdown(sentence)
        return
    notes = "".join(_note(translator(lang), lang, term) for term, _, _ in found)
    st.html(f'<div class="says"><p>{_as_html(sentence, found)}</p><div role="status">{notes}</div></div>')


def _first_places(sentence: str, lang: str, marked: set[str]) -> Iterator[tuple[Term, int, int]]:
    """Where terms stand that are not among the marked, which they join; code is no sentence."""
    without_code = _CODE.sub(lambda code: " " * len(code[0]), sentence)
    for term, start, end in found_in(without_code, lang):
        if term.code not in marked:
            marked.add(term.code)
            yield term, start, end


def _as_html(sentence: str, found: list[tuple[Term, int, int]]) -> str:
    """The sentence with its bold words, its code, and a button for each of these terms.

    A line may end on either side of a button, whatever stands there: so it is held together with the signs at it.
    """
    html, at = "", 0
    for term, start, end in found:
        opening, closing = _OPENING.search(sentence, at, start), _CLOSING.match(sentence, end)
        first, last = opening.start() if opening else start, closing.end() if closing else end
        button = f'<button type="button" popovertarget="term_{term.code}">{escape(sentence[start:end])}</button>'
        held = f"{escape(sentence[first:start])}{button}{escape(sentence[end:last])}"
        html += escape(sentence[at:first]) + (f"<span>{held}</span>" if (first, last) != (start, end) else held)
        at = last
    html += escape(sentence[at:])
    for pattern, tag in ((_CODE, "code"), (_STRONG, "strong"), (_EM, "em")):
        html = pattern.sub(rf"<{tag}>\1</{tag}>", html)
    return html


def _note(t: Translate, lang: str, term: Term) -> str:
    """What a pop-over says: the term's names, its letter and shape, what it means, and where it can be touched."""
    return (
        f'<div popover id="term_{term.code}" class="term"><p>{heading(lang, term)}</p>'
        f"<p>{escape(term.says[lang])}</p>{see(t, lang, term)}</div>"
    )


def heading(lang: str, term: Term) -> str:
    """A term's names, in this language and in the others, and what formulas call it, as HTML."""
    others = {code: term.names[code] for code in LANGUAGES if code != lang and term.names[code] != term.names[lang]}
    parts = [f'<span lang="{code}">{escape(name)}</span>' for code, name in others.items()]
    parts += [escape(" : ".join(filter(None, (term.letter, term.shape))))] * bool(term.letter or term.shape)
    return " · ".join([f"<strong>{escape(term.names[lang])}</strong>", *parts])
