"""Errors of a request, each with a code that every language has a sentence for."""

from typing import Any

from viz.text import fill, words_of


class ModelError(ValueError):
    """A model cannot be used; the sentence says what is wrong and what to do.

    ``code`` and ``values`` let the interface say it in the user's language. The sentences stand below ``error`` in
    ``en.toml`` and ``zh.toml``.
    """

    def __init__(self, code: str, **values: Any) -> None:
        self.code, self.values = code, values
        super().__init__(fill(words_of("en", "error")[code], **values))
