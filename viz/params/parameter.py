"""A parameter: its name, default, rule and scope, said once; and the controls that any kind of them has.

What a link asks for is believed only if the parameter's rule allows it; the rest falls back to the default, and the
user is told. A value that nobody chose is each page's default, and not carried to the next.
"""

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, Generic, Self, TypeVar

import streamlit as st

from viz.params.session import of_session, redraw_page

T = TypeVar("T")

KEEP: Final = "session"
"""``persist_state``: a control keeps its value when the user changes pages."""


def resolve(value: Any, about: Any) -> Any:
    """Return a value, or what a function makes of what the page knows."""
    return value(about) if callable(value) else value


@dataclass(frozen=True)
class Scope:
    """A separate value for each owner of a parameter. Without a scope there is one value for all pages.

    Args:
        owner: a page, a section, a text whose value it is, or a function that returns it.
        keeps: whether an owner finds again what was chosen for it; else that is forgotten.
    """

    owner: Any
    keeps: bool = True


@dataclass(frozen=True)
class Parameter(Generic[T]):
    """A value that stands in the link, under the name that is also its widget's key.

    A default, a range or an owner may be a function of ``about``, what the page knows.

    Args:
        name: in the link; it is for good.
        default: the value where nobody chose one; it is left out of the link.
        scope: whose the value is; None: all pages have the same.
        parse: reads the value from a link, if not as its kind does; ValueError means that it cannot be read.
        allows: the rule, if the kind's own is not all of it; asked again in every run.
    """

    name: str
    default: Any = None
    scope: Scope | None = field(default=None, kw_only=True)
    parse: Callable[[str], T] | None = field(default=None, kw_only=True)
    allows: Callable[[T], bool] | None = field(default=None, kw_only=True)

    def variant(self, **changes: Any) -> Self:
        """Return the same parameter with another default, range or scope, for a page that gives it one."""
        return replace(self, **changes)

    def read(self, about: Any = None) -> T:
        """Declare the parameter and return its value: what the link or the user chose, if allowed, or the default."""
        self.enter(about)
        state, known, name = st.session_state, of_session(), self.name
        default, is_declared = self._usual(about), name in known.declared
        if name in known.preset:
            default = self._from_link(known.preset[name], about, default)
        known.declare(name, default)
        if name not in state or known.is_of_before(name):
            known.usual.pop(name, None)
            known.send(name, self._believe(about, default))
        elif self.value != default and (not self._is_allowed(about, self.value) or not (is_declared or self.is_chosen)):
            known.send(name, default)
        elif not is_declared and known.is_moved:
            # Another page's widget of this name is another one to Streamlit, and begins empty unless given a value.
            state[name] = state[name]
        elif not is_declared and known.has_crossed(name):
            known.send(name, self.value)
        if self.value == default:
            known.usual[name] = default
        elif self.is_chosen:
            known.usual.pop(name, None)
        return self.value

    def _believe(self, about: Any, default: T) -> T:
        """Return what the link asks for, if it does and the rule allows it."""
        known = of_session()
        if known.believed is not None:
            known.believed.add(self.name)
        if (raw := known.link.pop(self.name, None)) is None:
            return default
        if (value := self._from_link(raw, about, None)) is not None:
            return value
        known.refused.append(self.name)
        return default

    def _from_link(self, raw: str, about: Any, otherwise: Any) -> Any:
        with suppress(ValueError):
            if self._is_allowed(about, value := (self.parse or self._parse)(raw)):
                return value
        return otherwise

    def _usual(self, about: Any) -> T:
        usual: T = resolve(self.default, about)
        return usual

    def _parse(self, raw: str) -> T:
        raise NotImplementedError

    def _is_allowed(self, about: Any, value: T) -> bool:
        return self.allows is None or self.allows(value)

    def enter(self, about: Any = None) -> None:
        """Have the value be that of the owner in the parameter's scope; to be called before what else asks for it."""
        if self.scope is None:
            return
        known, name, owner = of_session(), self.name, resolve(self.scope.owner, about)
        before = known.scopes.setdefault(name, owner)
        if before == owner:
            return
        elsewhere = known.elsewhere.setdefault(name, {})
        if self.scope.keeps and self.is_chosen:
            elsewhere[before] = self.value
        self.forget()
        known.scopes[name], value = owner, elsewhere.pop(owner, None)
        if value is not None and not self.is_of_before:  # after Back the link says what was chosen here
            self.choose(value)

    @property
    def value(self) -> T:
        """The value, of a parameter that was read before, or set."""
        value: T = st.session_state[self.name]
        return value

    @property
    def has_value(self) -> bool:
        """Whether it was read or set before in this session."""
        return self.name in st.session_state

    @property
    def is_chosen(self) -> bool:
        """Whether the value is another than the default that was put there because nobody chose one."""
        return of_session().is_chosen(self.name)

    @property
    def is_known(self) -> bool:
        """Whether there is a value already, or the link gives one, or it is preset."""
        return of_session().is_known(self.name)

    @property
    def is_of_before(self) -> bool:
        """Whether the value is older than the last Back or Forward, whose link was not asked for it yet."""
        return of_session().is_of_before(self.name)

    def set(self, value: T) -> None:
        """Set the value, before its widget is made in this run, or in a callback."""
        known = of_session()
        known.send(self.name, value)
        if known.believed is not None:
            known.believed.add(self.name)

    def choose(self, value: T) -> None:
        """Set the value, and have it count as chosen even if it has been a default until now."""
        self.set(value)
        of_session().usual.pop(self.name, None)

    def forget(self) -> None:
        """Have nothing chosen: the value is the default when it is next read."""
        st.session_state.pop(self.name, None)

    def leave_out(self, usual: T) -> None:
        """Have another value than the default left out of the link; whatever is shown then counts as chosen."""
        known = of_session()
        if known.declared[self.name] != usual:
            known.declared[self.name] = usual
            known.usual.pop(self.name, None)

    def draw(self, widget: Callable[..., Any], label: str, *args: Any, **options: Any) -> Any:
        """Draw a Streamlit widget whose value is the parameter's, which has been read in this run."""
        known = of_session()
        if known.owners[self.name] == known.part[:1] != known.part:
            options = {"on_change": redraw_page, **options}  # the page's, drawn in a section: draw the page again
        return widget(label, *args, key=self.name, persist_state=KEEP, **options)

    def send_again(self, shown: Hashable) -> None:
        """Send a control its value where its range or its labels are others than in the run before.

        To Streamlit a slider with another range is another slider. It shows its lowest value in that run, or one that
        was kept from a page before and may lie above its end, though the session's own value is right. Of a list the
        browser keeps the label that was chosen, and goes on showing it where the options have other labels.
        """
        ranges = of_session().ranges
        if ranges.setdefault(self.name, shown) != shown:
            ranges[self.name] = shown
            self.set(self.value)


@dataclass(frozen=True)
class OneOf(Parameter[T]):
    """A parameter with one of a few values: ``among``, or a function of what the page knows that lists them.

    Its controls take what Streamlit's do, and ``says``, which writes a value for people, and ``listed``, the values to
    draw if not all. Streamlit holds ``says``, so it may hold words, but no context.
    """

    among: Sequence[T] | Callable[[Any], Sequence[T]] | None = field(default=None, kw_only=True)

    def options(self, about: Any = None) -> Sequence[T]:
        """Return the values that are allowed."""
        options: Sequence[T] = resolve(self.among, about)
        return options

    def _is_allowed(self, about: Any, value: T) -> bool:
        return value in self.options(about) and super()._is_allowed(about, value)

    def _list(
        self,
        widget: Callable[..., Any],
        label: str,
        about: Any,
        *,
        says: Callable[[T], str] = str,
        listed: Sequence[T] | None = None,
        **options: Any,
    ) -> T:
        value, listed = self.read(about), self.options(about) if listed is None else listed
        if "required" not in options:
            self.send_again(hash(tuple(map(says, listed))))  # of a long text the labels themselves are 20 kB
        self.draw(widget, label, listed, format_func=says, **options)
        return value

    def selectbox(self, label: str, about: Any = None, **options: Any) -> T:
        """Draw a list that opens, and return the value."""
        return self._list(st.selectbox, label, about, **options)

    def radio(self, label: str, about: Any = None, **options: Any) -> T:
        """Draw a column with a button for each value, and return the value."""
        return self._list(st.radio, label, about, **options)

    def segments(self, label: str, about: Any = None, **options: Any) -> T:
        """Draw a row of joined buttons, and return the value."""
        return self._list(st.segmented_control, label, about, required=True, **options)

    def pills(self, label: str, about: Any = None, **options: Any) -> T:
        """Draw a row of pills, and return the value."""
        return self._list(st.pills, label, about, required=True, **options)

    def select_slider(self, label: str, about: Any = None, **options: Any) -> T:
        """Draw a slider over the values, if there are several, and return the value."""
        if len(self.options(about)) < 2:
            return self.read(about)
        return self._list(st.select_slider, label, about, **options)
