"""Choice of the text: the one in the box, repeated or not, or a user's file; and its length."""

from dataclasses import dataclass
from functools import cache

import streamlit as st

from pages.long_text.encodings import read_encoded
from viz import ASSETS, limits
from viz.frame.compute.long_texts import most_tokens
from viz.frame.connection.uploads import file_uploader, say_missing, uploaded_bytes
from viz.frame.examples import stash_text
from viz.frame.scene import Scene
from viz.frame.shared import TEXT
from viz.params import Choice, Int
from viz.text import Translate

BOX, FILE = "box", "file"
TIMES = (1, 2, 4, 8, 16, 32)
LENGTHS = (512, 1_024, 2_048, 4_096, 8_192, 16_384, limits.LONGEST)
DEFAULT_TOKENS = 1_024
"""Tokens that are read of a text before a user asks for more: SmolLM2 takes five seconds for them."""
FROM = Choice("long_from", among=(BOX, FILE))
LONG_TOKENS = Int("long_tokens", lambda lengths: min(DEFAULT_TOKENS, lengths[-1]), among=lambda lengths: lengths)
LONG_TIMES = Int("long_times", 1, among=TIMES)


class FileError(ValueError):
    """A file that is not read, and why: ``code`` has a sentence in every language."""

    def __init__(self, code: str) -> None:
        self.code = code
        super().__init__(code)


@dataclass(frozen=True, kw_only=True)
class TextRequest:
    """The text that was asked for, how often, how many tokens of it at most, and whether it is a file's."""

    text: str
    times: int
    most: int
    is_file: bool


@cache
def shipped() -> str:
    """The beginning of Alice's Adventures in Wonderland, Lewis Carroll 1865, in the public domain.

    Compared word by word with Project Gutenberg's text. Words in italics are plain here. Where editions differ
    ("killing somebody underneath", "pictures or conversations" both times) it has what later ones have.
    """
    return (ASSETS / "long_text.txt").read_text("utf8").strip()


def default_text() -> str:
    """The default text."""
    stash_text()
    return shipped()


def decode(content: bytes) -> str:
    """Return a user's file as text.

    Raises:
        FileError: "large", "binary" or "blank".

    Example:
        >>> decode(b"one two")
        'one two'
    """
    return read_file(content)[0]


def read_file(content: bytes) -> tuple[str, str]:
    """Return a user's file as text, and its encoding; errors as of :func:`decode`."""
    if len(content) > limits.LONG_BYTES:
        raise FileError("large")
    if (decoded := read_encoded(content)) is None:
        raise FileError("binary")
    if not decoded[0].strip():
        raise FileError("blank")
    return decoded


def choose_text(scene: Scene, most_of_model: int) -> TextRequest:
    """Draw the controls, and return the choice; the model reads ``most_of_model`` tokens at most."""
    t, box_text = scene.t, TEXT.value[: limits.CHARACTERS]
    file_text = _file(t) if FROM.read() == FILE else None
    most = min(most_of_model, most_tokens())
    lengths = [n for n in LENGTHS if n < most] + [most]
    n_tokens = LONG_TOKENS.read(lengths)
    times = 1 if file_text else LONG_TIMES.read()
    with scene.chips.add("long_text", t("long_text.chip", n=n_tokens)):
        FROM.radio(t("long_text.from"), says=lambda code: t(f"long_text.from_{code}"))
        if file_text is None:
            LONG_TIMES.select_slider(t("long_text.times"), says=_times, help=t("long_text.times_help"))
        LONG_TOKENS.select_slider(t("long_text.tokens"), lengths, help=t("long_text.tokens_help", most=most))
    return TextRequest(text=file_text or box_text, times=times, most=n_tokens, is_file=file_text is not None)


def _times(times: int) -> str:
    return f"{times} ×"


def _file(t: Translate) -> str | None:
    """The user's file, if there is one that can be read; else why not."""
    file_uploader(
        t("long_text.file"), "_long_file", type=["txt", "md"], max_upload_size=1, help=t("long_text.file_help")
    )
    content = uploaded_bytes("_long_file")
    if content is None:
        say_missing(t, "_long_file", "long_text.file_none")
        return None
    try:
        text, encoding = read_file(content)
    except FileError as error:
        st.error(t(f"long_text.file_{error.code}", most=limits.LONG_BYTES // 1_000))
        return None
    if encoding != "UTF-8":
        st.caption(t("long_text.file_encoding", encoding=encoding))
    return text
