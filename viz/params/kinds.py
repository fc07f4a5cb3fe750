"""The seven kinds of parameters: Int, Real, Choice, Flag, Text, Ints and TokenIndex."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from viz.params.parameter import OneOf, Parameter, resolve
from viz.params.session import of_session
from viz.params.words import place_of_word


@dataclass(frozen=True)
class Int(OneOf[int]):
    """A whole number from ``low`` to ``high``, or one of those in ``among``.

    A chosen value that is now out of range is clamped; if it is no longer in ``among`` it becomes the nearest value if
    ``nearest``, else the default.
    """

    default: Any = 0
    low: int | Callable[[Any], int] = field(default=0, kw_only=True)
    high: int | Callable[[Any], int] = field(default=0, kw_only=True)
    nearest: bool = field(default=False, kw_only=True)

    def options(self, about: Any = None) -> Sequence[int]:
        """Return the valid numbers."""
        if self.among is not None:
            return super().options(about)
        return range(resolve(self.low, about), resolve(self.high, about) + 1)

    def read(self, about: Any = None) -> int:
        """Declare the parameter and return its value, clamped to the range."""
        self.enter(about)
        value = st.session_state.get(self.name)
        if isinstance(value, int) and self.is_chosen and (nearest := self._nearest(value, about)) != value:
            self.set(nearest)
        return super().read(about)

    def _nearest(self, value: int, about: Any) -> int:
        options = self.options(about)
        if isinstance(options, range) and self.among is None:
            return min(max(value, options.start), options.stop - 1)
        return min(options, key=lambda option: abs(option - value)) if self.nearest else value

    def _resolve_default(self, about: Any) -> int:
        return self._nearest(super()._resolve_default(about), about)

    def _parse(self, raw: str) -> int:
        return int(raw)

    def _is_allowed(self, about: Any, value: int) -> bool:
        return isinstance(value, int) and super()._is_allowed(about, value)

    def slider(self, label: str, about: Any = None, **options: Any) -> int:
        """Draw a slider if there are several values; return the value."""
        among = self.options(about)
        if not isinstance(among, range):
            return self.select_slider(label, about, **options)
        value = self.read(about)
        if len(among) > 1:
            self.resend_on_change((among[0], among[-1]))
            self.draw(st.slider, label, among[0], among[-1], **options)
        return value

    def number_input(self, label: str, about: Any = None, **options: Any) -> int:
        """Draw a number input; return the value."""
        value, among = self.read(about), self.options(about)
        self.draw(st.number_input, label, among[0], among[-1], **options)
        return value


@dataclass(frozen=True)
class TokenIndex(Int):
    """The position of a token in a text; -1 is none. It follows its word when the ``words`` change."""

    words: Callable[[Any], tuple[str, ...]] | None = field(default=None, kw_only=True)

    def read(self, about: Any = None) -> int:
        """Declare the parameter and return its value, the position of its word in this text."""
        if self.words:
            self.follow(self.words(about), locked_at_first=self._resolve_default(about) >= 0)
        return super().read(about)

    def follow(self, words: tuple[str, ...], *, locked_at_first: bool = True) -> None:
        """Move the value to its word's position in another text, or reset it if the word is missing.

        A value that is a default becomes the default of the new text. If that has none, the word is kept like a chosen
        one, because the user sees it.

        Args:
            words: of the text.
            locked_at_first: True if the default of this text is a word.
        """
        record, place, is_chosen = of_session(), st.session_state.get(self.name), self.is_chosen
        before, record.scopes[self.name] = record.scopes.get(self.name), words
        if before is None or before == words or self.predates_navigation or (not is_chosen and locked_at_first):
            return
        position = None
        if isinstance(place, int) and 0 <= place < len(before):
            position = place_of_word(before, words, place, or_place=is_chosen)
        if position is None:
            self.forget()
        else:
            self.choose(position)


@dataclass(frozen=True)
class Real(OneOf[float]):
    """A number from ``low`` to ``high``, or one of those in ``among``; NaN is none."""

    default: Any = 0.0
    low: float | Callable[[Any], float] = field(default=0.0, kw_only=True)
    high: float | Callable[[Any], float] = field(default=0.0, kw_only=True)

    def _parse(self, raw: str) -> float:
        return float(raw)

    def _is_allowed(self, about: Any, value: float) -> bool:
        if self.among is not None:
            return super()._is_allowed(about, value)
        low, high = resolve(self.low, about), resolve(self.high, about)
        return isinstance(value, int | float) and low <= value <= high

    def slider(self, label: str, about: Any = None, *, step: float, **options: Any) -> float:
        """Draw a slider; return the value."""
        value, low, high = self.read(about), resolve(self.low, about), resolve(self.high, about)
        self.resend_on_change((low, high, step))
        self.draw(st.slider, label, low, high, step=step, **options)
        return value

    def number_input(self, label: str, about: Any = None, *, step: float, **options: Any) -> float:
        """Draw a number input; return the value."""
        value, low, high = self.read(about), resolve(self.low, about), resolve(self.high, about)
        self.draw(st.number_input, label, low, high, step=step, **options)
        return value


@dataclass(frozen=True)
class Choice(OneOf[str]):
    """One of a few codes, independent of the language; by default the first."""

    def _resolve_default(self, about: Any) -> str:
        return self.options(about)[0] if self.default is None else super()._resolve_default(about)

    def _parse(self, raw: str) -> str:
        return raw


@dataclass(frozen=True)
class Flag(Parameter[bool]):
    """On or off."""

    default: Any = False

    def _parse(self, raw: str) -> bool:
        return bool(int(raw))

    def toggle(self, label: str, about: Any = None, **options: Any) -> bool:
        """Draw a toggle; return the value."""
        value = self.read(about)
        self.draw(st.toggle, label, **options)
        return value


@dataclass(frozen=True)
class Text(Parameter[str]):
    """A text; the link carries ``longest`` characters at most."""

    default: Any = ""
    longest: int | None = field(default=None, kw_only=True)

    def _parse(self, raw: str) -> str:
        return raw

    def read(self, about: Any = None) -> str:
        """Declare the parameter and return the text."""
        if self.longest is not None:
            of_session().longest[self.name] = self.longest
        return super().read(about)

    def text_box(self, label: str, about: Any = None, *, draw: Callable[..., Any], **options: Any) -> str:
        """Draw a text input with Streamlit's function ``draw``; return the text as typed.

        In a session's first run the browser may send a text typed since an earlier connection. So the link's text is
        only the widget's default then: setting the value would overwrite what is being typed.
        """
        is_unseen = of_session().page is None and self.name not in st.session_state
        text = self.read(about)
        if not is_unseen:
            self.draw(draw, label, **options)
            return text
        self.forget()
        return str(self.draw(draw, label, value=text, **options))

    def selectbox(
        self, label: str, about: Any = None, *, suggestions: Sequence[str], says: Callable[[str], str], **options: Any
    ) -> str:
        """Draw a select box that also takes a typed text; return the text."""
        value = self.read(about)
        options_with_value = suggestions if value in suggestions else [*suggestions, value]
        self.resend_on_change(hash(tuple(map(says, options_with_value))))
        self.draw(st.selectbox, label, options_with_value, format_func=says, accept_new_options=True, **options)
        return value


@dataclass(frozen=True)
class Ints(Parameter[list[int]]):
    """Distinct whole numbers from ``low`` to ``high``; by default none."""

    default: Any = ()
    low: int | Callable[[Any], int] = field(default=0, kw_only=True)
    high: int | Callable[[Any], int] = field(default=0, kw_only=True)

    def _resolve_default(self, about: Any) -> list[int]:
        return list(super()._resolve_default(about))

    def _parse(self, raw: str) -> list[int]:
        return [int(part) for part in raw.split("-") if part]

    def options(self, about: Any = None) -> range:
        """Return the valid numbers."""
        return range(resolve(self.low, about), resolve(self.high, about) + 1)

    def _is_allowed(self, about: Any, value: list[int]) -> bool:
        if self.allows is not None:
            return self.allows(value)
        return all(number in self.options(about) for number in value) and len(set(value)) == len(value)

    def pills(self, label: str, about: Any = None, *, says: Callable[[int], str] = str, **options: Any) -> list[int]:
        """Draw a pill for each number; return the selected ones."""
        value = self.read(about)
        self.draw(st.pills, label, self.options(about), selection_mode="multi", format_func=says, **options)
        return value

    def multiselect(
        self, label: str, about: Any = None, *, says: Callable[[int], str] = str, **options: Any
    ) -> list[int]:
        """Draw a multiselect; return the selected numbers."""
        value, among = self.read(about), self.options(about)
        self.resend_on_change(hash(tuple(map(says, among))))
        self.draw(st.multiselect, label, among, format_func=says, **options)
        return value
