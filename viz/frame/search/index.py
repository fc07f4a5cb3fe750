"""The index of the search: pages, sections, terms and lessons, in both languages, as the browser is sent it once."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TypedDict
from urllib.parse import urlencode

from viz.frame.section import Section
from viz.frame.sidebar import path_of
from viz.lessons.lesson import Lesson
from viz.lessons.lesson_file import lessons
from viz.text import LANGUAGES, has_text, translator
from viz.text.glossary import Term, terms

_WORD = re.compile(r"[\u3400-\u9fff]{2,}|[^\W\d_\u3400-\u9fff]{4,}|[A-Z]\w+")
"""A stretch of Chinese, or an English word of some length."""
_BETWEEN = re.compile(r"; |；")
"""The separator of former titles."""
_MARKS = re.compile(r"\*\*|[*`]")
_LATEX = re.compile(r"\\[A-Za-z]+|[\\$*`{}|#\[\]<>&^=+]+|\(https?:[^)]*\)|\s+")


class Entry(TypedDict):
    """An entry.

    Keys:
        kind: "page", "section", "term" or "lesson".
        to: the link, without a language.
        names: its names in both languages, synonyms and abbreviations.
        en, zh: title, a sentence, and the page it belongs to ("" for none), by language.
        more: other text that it is found by.
    """

    kind: str
    to: str
    names: list[str]
    en: list[str]
    zh: list[str]
    more: str


def index(pages: Mapping[str, Sequence[Section]]) -> list[Entry]:
    """Return every entry: the glossary's terms, each page's sections, the pages, the lessons, and views of sections."""
    of_terms, of_lessons = map(_term, terms().values()), map(_lesson, lessons())
    sections = (_section(page, part.name, {"section": part.name}) for page, parts in pages.items() for part in parts)
    return [*of_terms, *sections, *map(_page, pages), *of_lessons, *_views(pages)]


def _term(term: Term) -> Entry:
    page, section, more = term.place
    to = f"{path_of(page)}?section={section}{'&' * bool(more)}{more}"
    names = [*term.names.values(), *filter(None, [term.letter]), *term.also]
    sentences = {lang: [term.names[lang], term.says[lang], _text(lang, f"{page}.title")] for lang in LANGUAGES}
    return _entry("term", to, sentences, names)


def _views(pages: Mapping[str, Sequence[Section]]) -> Iterator[Entry]:
    """The views of sections after the first, which has the section's own title."""
    for page, sections in pages.items():
        for section in sections:
            for view in section.views[1:]:
                yield _section(page, view.name, {"section": section.name, section.switch: view.name})


def _section(page: str, name: str, link: Mapping[str, str]) -> Entry:
    """Return the entry of a section, or a view; a text ``also`` has former titles, which lead here too."""
    key = f"{page}.{name}"
    sentences = {
        lang: [_text(lang, f"{key}.title"), _text(lang, f"{key}.lead"), _text(lang, f"{page}.title")]
        for lang in LANGUAGES
    }
    why = " ".join(_LATEX.sub(" ", _text(lang, f"{key}.why")) for lang in LANGUAGES)
    former_titles = [
        title for lang in LANGUAGES for title in _BETWEEN.split(_text(lang, f"{page}.{name}.also")) if title
    ]
    to = f"{path_of(page)}?{urlencode(link)}"
    # The words of the explanation that the sentences lack are further search terms.
    known_words = set(_WORD.findall(" ".join(chain(*sentences.values())).casefold()))
    new_words = (word for word in dict.fromkeys(_WORD.findall(why.casefold())) if word not in known_words)
    return _entry("section", to, sentences, former_titles, more=" ".join(new_words))


def _page(page: str) -> Entry:
    sentences = {lang: [_text(lang, f"{page}.title"), _text(lang, f"{page}.lead"), ""] for lang in LANGUAGES}
    return _entry("page", path_of(page), sentences)


def _lesson(lesson: Lesson) -> Entry:
    to = f"{path_of(lesson.steps[0].page)}?lesson={lesson.name}&lesson_step=1"
    return _entry("lesson", to, {lang: [lesson.title[lang], lesson.knows[lang], ""] for lang in LANGUAGES})


def _entry(kind: str, to: str, sentences: Mapping[str, list[str]], names: Iterable[str] = (), more: str = "") -> Entry:
    every = dict.fromkeys([*(sentences[lang][0] for lang in LANGUAGES), *names])
    return Entry(kind=kind, to=to, names=list(every), en=sentences["en"], zh=sentences["zh"], more=more)


def _text(lang: str, key: str) -> str:
    """Return a text without markup, "" if there is none."""
    return _MARKS.sub("", translator(lang)(key)) if has_text(key) else ""
