"""The seven kinds of parameters: Int, Real, Choice, Flag, Text, Ints and TokenIndex."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partialmethod
from typing import Any, TypeVar

import streamlit as st

from viz.params.memory import VALUES
from viz.params.parameter import OneOf, Parameter
from viz.params.session import of_session

N = TypeVar("N", bound=float)


@dataclass(frozen=True)
class Number(OneOf[N]):
    """A number from ``low`` to ``high``, or one of those in ``among``: the base of ``Int`` and ``Real``."""

    default: Any = 0
    low: Any = field(default=0, kw_only=True)
    high: Any = field(default=0, kw_only=True)

    def bounds(self, about: Any = None) -> tuple[N, N]:
        """Return the lowest and the highest valid number."""
        if self.among is None:
            low, high = self.low, self.high
            return low(about) if callable(low) else low, high(about) if callable(high) else high
        among = self.options(about)
        return among[0], among[-1]

    def _is_allowed(self, about: Any, value: N) -> bool:
        if self.among is not None:
            return super()._is_allowed(about, value)
        low, high = self.bounds(about)
        return isinstance(value, int | float) and low <= value <= high and Parameter._is_allowed(self, about, value)

    def slider(self, label: str, about: Any = None, *, step: N | None = None, **options: Any) -> N:
        """Draw a slider if there are several values; return the value."""
        if self.among is not None and not isinstance(self.options(about), range):
            return self.select_slider(label, about, **options)
        value, (low, high) = self.read(about), self.bounds(about)
        if low < high:
            self.resend_on_change((low, high, step))
            self.draw(st.slider, label, low, high, value=value, step=step, **options)
        return value

    def number_input(self, label: str, about: Any = None, *, step: N | None = None, **options: Any) -> N:
        """Draw a number input; return the value."""
        value, (low, high) = self.read(about), self.bounds(about)
        self.draw(st.number_input, label, low, high, value=value, step=step, **options)
        return value


@dataclass(frozen=True)
class Int(Number[int]):
    """A whole number from ``low`` to ``high``, or one of those in ``among``.

    A chosen value that is now out of range is clamped; if it is no longer in ``among`` it becomes the nearest value if
    ``nearest``, else the default.
    """

    low: int | Callable[[Any], int] = field(default=0, kw_only=True)
    high: int | Callable[[Any], int] = field(default=0, kw_only=True)
    parse: Callable[[str], Any] = field(default=int, kw_only=True)
    nearest: bool = field(default=False, kw_only=True)

    def options(self, about: Any = None) -> Sequence[int]:
        """Return the valid numbers."""
        if self.among is not None:
            return super().options(about)
        low, high = self.bounds(about)
        return range(low, high + 1)

    def _is_allowed(self, about: Any, value: int) -> bool:
        return isinstance(value, int) and super()._is_allowed(about, value)

    def _resolve_default(self, about: Any) -> int:
        return self._nearest(super()._resolve_default(about), about)

    def _replace(self, value: int, default: int, about: Any) -> int:
        nearest = self._nearest(value, about) if isinstance(value, int) else default
        return nearest if self._is_allowed(about, nearest) else default

    def _nearest(self, value: int, about: Any) -> int:
        if self.among is None:
            low, high = self.bounds(about)
            return min(max(value, low), high)
        if not self.nearest or value in (options := self.options(about)):
            return value
        return min(options, key=lambda option: abs(option - value))


def place_of_word(before: Sequence[str], now: Sequence[str], place: int, *, or_place: bool = True) -> int | None:
    """Return the position of a word in a changed text: the same occurrence (first, second ...) of the same word.

    If the word is missing, ``or_place`` returns its old position for a text of the same length.
    """
    word, nth = before[place], before[:place].count(before[place])
    places = [i for i, other_word in enumerate(now) if other_word == word]
    if nth < len(places):
        return places[nth]
    return place if or_place and len(before) == len(now) else None


@dataclass(frozen=True)
class TokenIndex(Int):
    """The position of a token in a text; -1 is none. It follows its word when the words change, which its scope names.

    If the word is missing in the new text, the value is reset. A value that is a default becomes the default of the new
    text. If that has none, the word is kept like a chosen one, because the user sees it.
    """

    def _change_owner(self, before: Any, owner: Any, about: Any) -> None:
        """Follow the word from the text before into this one."""
        is_chosen = self.is_chosen
        if self.predates_navigation or not (is_chosen or self._resolve_default(about) < 0):
            return
        position, place = None, self.value if self.has_value else None
        if isinstance(place, int) and 0 <= place < len(before):
            position = place_of_word(before, owner, place, or_place=is_chosen)
        if position is None:
            self.forget()
        else:
            self.choose(position)


@dataclass(frozen=True)
class Real(Number[float]):
    """A number from ``low`` to ``high``, or one of those in ``among``; NaN is none."""

    default: Any = 0.0
    low: float | Callable[[Any], float] = field(default=0.0, kw_only=True)
    high: float | Callable[[Any], float] = field(default=0.0, kw_only=True)
    parse: Callable[[str], Any] = field(default=float, kw_only=True)


@dataclass(frozen=True)
class Choice(OneOf[str]):
    """One of a few codes, independent of the language; by default the first."""

    def _resolve_default(self, about: Any) -> str:
        if self.default is not None:
            return super()._resolve_default(about)
        return self.among[0] if isinstance(self.among, tuple) else self.options(about)[0]


@dataclass(frozen=True)
class Flag(Parameter[bool]):
    """On or off."""

    default: Any = False
    parse: Callable[[str], Any] = field(default=lambda raw: bool(int(raw)), kw_only=True)

    def toggle(self, label: str, about: Any = None, **options: Any) -> bool:
        """Draw a toggle; return the value."""
        value = self.read(about)
        self.draw(st.toggle, label, value=value, **options)
        return value


@dataclass(frozen=True)
class Text(Parameter[str]):
    """A text; the link carries ``longest`` characters at most."""

    default: Any = ""
    longest: int | None = field(default=None, kw_only=True)

    def read(self, about: Any = None) -> str:
        """Declare the parameter and return its value; note how much of it a link carries."""
        if self.longest is not None:
            of_session().longest[self.name] = self.longest
        return super().read(about)

    def text_box(self, label: str, about: Any = None, *, draw: Callable[..., Any], **options: Any) -> str:
        """Draw a text input with Streamlit's function ``draw``; return the text as typed.

        In a session's first run the browser may send a text typed since an earlier connection. So the link's text is
        only the widget's default then: setting the value would overwrite what is being typed.
        """
        is_unseen = of_session().page is None and not self.has_value
        text = self.read(about)
        if is_unseen:
            self.forget()
        box_text = str(self.draw(draw, label, value=text, **options))
        if is_unseen and (values := VALUES.get()) is not None:
            # The widget has set it.
            values[self.name] = box_text
        return box_text if is_unseen else text

    def selectbox(self, label: str, about: Any = None, *, suggestions: Sequence[str], **options: Any) -> str:
        """Draw a select box that also takes a typed text; return the text."""
        value = self.read(about)
        values = suggestions if value in suggestions else [*suggestions, value]
        return self.draw_list("selectbox", label, about, listed=values, accept_new_options=True, **options)


@dataclass(frozen=True)
class Ints(Parameter[list[int]]):
    """Distinct whole numbers from ``low`` to ``high``; by default none. ``allows`` replaces this rule."""

    default: Any = ()
    low: int | Callable[[Any], int] = field(default=0, kw_only=True)
    high: int | Callable[[Any], int] = field(default=0, kw_only=True)
    parse: Callable[[str], Any] = field(
        default=lambda raw: [int(part) for part in raw.split("-") if part], kw_only=True
    )

    def options(self, about: Any = None) -> range:
        """Return the valid numbers."""
        high: int = self.high(about) if callable(self.high) else self.high
        return range(self.low(about) if callable(self.low) else self.low, high + 1)

    def _resolve_default(self, about: Any) -> list[int]:
        return list(super()._resolve_default(about))

    def _is_allowed(self, about: Any, value: list[int]) -> bool:
        if self.allows is not None:
            return self.allows(value)
        return all(number in self.options(about) for number in value) and len(set(value)) == len(value)

    pills = partialmethod[list[int]](Parameter[list[int]].draw_list, "pills", selection_mode="multi")
    multiselect = partialmethod[list[int]](Parameter[list[int]].draw_list, "multiselect")
