"""Every word on the screen, in English and Chinese: ``en.toml`` and ``zh.toml`` hold the same keys.

The words of the frame stand here, those of a page in the page's own folder.
"""

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, reduce
from pathlib import Path
from types import MappingProxyType
from typing import Any

from viz import PAGES

RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
_OPEN, _CLOSE = "\u2068", "\u2069"
"""First strong isolate, and its end: the direction is that of the first letter inside."""

LANGUAGES = MappingProxyType({"en": "English", "zh": "中文"})
Translate = Callable[..., str]
PLURAL = re.compile(r"\{(\w+)\|([^{}|]*)\|([^{}|]*)\}")
"""``{n|head|heads}``: the first form beside a 1, the second beside any other number. The browser reads it the same way
(``client/lib/dom.js``)."""
FULL_STOPS = "。！？：；）"
"""Chinese signs that bring their own space."""


@cache
def sentences(lang: str) -> Mapping[str, str]:
    """All texts of a language, by dotted key."""
    texts: dict[str, str] = {}
    for path in sources(lang):
        of_file = _flatten(tomllib.loads(path.read_text("utf8")), "")
        if twice := texts.keys() & of_file.keys():
            raise ValueError(f"{path.parent.name} writes again what stands elsewhere: {sorted(twice)}")
        texts |= of_file
    return MappingProxyType(texts)


def sources(lang: str) -> tuple[Path, ...]:
    """The files a language's texts stand in: the frame's, then a file for each page."""
    return Path(__file__).with_name(f"{lang}.toml"), *sorted(PAGES.glob(f"*/{lang}.toml"))


@cache
def _of_frame(lang: str) -> Mapping[str, str]:
    """Texts of the frame, without the pages."""
    return MappingProxyType(_flatten(tomllib.loads(sources(lang)[0].read_text("utf8")), ""))


@cache
def words_of(lang: str, part: str) -> Mapping[str, str]:
    """The frame's own texts below a name, by the rest of theirs: the texts of a view in the browser."""
    texts, below = _of_frame(lang).items(), f"{part}."
    return MappingProxyType({key.removeprefix(below): text for key, text in texts if key.startswith(below)})


def _flatten(table: Mapping[str, Any], prefix: str) -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in table.items():
        flat |= _flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value.strip()}
    return flat


def has_text(key: str) -> bool:
    """Return True if there is a text of this name; the languages hold the same."""
    return key in sentences("en")


def translator(lang: str) -> Translate:
    """The function pages call ``t``: ``t("heads.title")``, ``t("sidebar.n_excess", n=3)``.

    A key that does not exist is an error: nothing is shown untranslated.
    """
    table = sentences(lang)

    def t(key: str, /, **values: Any) -> str:
        sentence = fill(table[key], **values) if values else table[key]
        change = _rewrite.get()
        return change(sentence) if change else sentence

    return t


Rewrite = Callable[[str], str]

_rewrite: ContextVar[Rewrite | None] = ContextVar("rewrite", default=None)


@contextmanager
def rewriting(change: Rewrite | None) -> Iterator[None]:
    """Change every sentence that is translated inside the ``with``."""
    token = _rewrite.set(change)
    try:
        yield
    finally:
        _rewrite.reset(token)


def paragraph(*parts: str) -> str:
    """Sentences one after the other, with a space between them where the script has one.

    Example:
        >>> paragraph("One.", "Two."), paragraph("一。", "二。")
        ('One. Two.', '一。二。')
    """
    text = ""
    for sentence in filter(None, parts):
        text += f" {sentence}" if text and text[-1] not in FULL_STOPS else sentence
    return text


def join_names(t: Translate, names: Iterable[str]) -> str:
    """Names one after the other, as the language separates them.

    Example:
        >>> join_names(translator("zh"), ["cat", "dog", "it"])
        'cat、dog、it'
    """
    return reduce(lambda before, last: t("page.listed", before=before, last=last), names)


def fill(sentence: str, /, **values: Any) -> str:
    """A sentence with its {names} filled in, the right form beside each number, words from right to left set apart."""
    isolated = {name: isolate(value) if isinstance(value, str) else value for name, value in values.items()}
    return PLURAL.sub(lambda match: match[2 if str(values[match[1]]) == "1" else 3], sentence).format(**isolated)


def isolate(text: str) -> str:
    """Return a word for a sentence or a list; one that has no letter from right to left stays as it is."""
    return f"{_OPEN}{text}{_CLOSE}" if RIGHT_TO_LEFT.search(text) else text
