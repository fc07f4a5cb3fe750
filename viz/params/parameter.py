"""A parameter: its name, default, validation and scope, and the widgets common to several kinds.

An invalid value in the link is replaced by the default and reported to the user. A default is not carried from page to
page.
"""

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial, partialmethod
from typing import Any, Final, Generic, Self, TypeVar

import streamlit as st

from viz.params.memory import VALUES
from viz.params.session import RECORD, Parameters, of_session

T = TypeVar("T")
_MAX_RECENT_VALUES: Final = 4
"""Recent values of a parameter that the browser may still send."""
_NAMED_BY_INDEX: Final = ("selectbox", "radio")
"""Widgets with a list whose default is given by its place in that."""


@dataclass(frozen=True)
class Scope:
    """A value for each owner of a parameter: a page, a section or a text, or a function that returns it.

    If it ``keeps``, an owner's chosen value is restored when it is active again; else it is reset. Without a scope
    there is one value for all pages.
    """

    owner: Any
    keeps: bool = True


@dataclass(frozen=True)
class Parameter(Generic[T]):
    """A query parameter of the link; its name is also its widget's key.

    A default, a range or an owner may be a function of ``about``, the page's data. ``Parameter(name)`` is enough to ask
    for the state of one that is declared elsewhere, such as ``is_chosen``.

    Args:
        name: in the link; never changed, because links are saved.
        default: the value unless one is chosen; it is left out of the link.
        scope: keeps a value for each owner; None: all pages share one.
        parse: reads the value from a link, by default as its kind does; raises ValueError for an invalid one.
        allows: further validation beside the kind's own; called in every run.
    """

    name: str
    default: Any = None
    scope: Scope | None = field(default=None, kw_only=True)
    parse: Callable[[str], Any] = field(default=str, kw_only=True)
    allows: Callable[[T], bool] | None = field(default=None, kw_only=True)

    def variant(self, **changes: Any) -> Self:
        """Return the parameter with another default, range or scope."""
        return replace(self, **changes)

    def read(self, about: Any = None) -> T:
        """Declare the parameter and return its value: that of the link or the user if valid, else the default."""
        if self.scope:
            self.enter(about)
        name, values = self.name, VALUES.get() or st.session_state
        record: Parameters = values[RECORD.name]
        default, is_declared = self._resolve_default(about), name in record.declared
        if name in record.preset:
            default = self._from_link(record.preset[name], about, default)
        record.declared[name] = default
        record.fragments.owners.setdefault(name, record.fragments.part)
        if name not in values or (record.is_back and name not in record.believed):
            record.current_defaults.pop(name, None)
            value = self._read_link(about, default)
            self.set(value)
        else:
            value = values[name]
            is_chosen = value != default and record.is_chosen(name, value)
            if value != default and not ((is_declared or is_chosen) and self._is_allowed(about, value)):
                value = self._replace(value, default, about) if is_chosen else default
                self.set(value)
            elif not is_declared and record.is_new_page:
                # Streamlit treats another page's widget of this name as new: it is empty unless its value is set.
                st.session_state[name] = value
            elif not is_declared and value != record.last_set.get(name, value) and record.is_stale(name, value):
                self.set(value)
        if value == default:
            record.current_defaults[name] = default
        elif record.is_chosen(name, value):
            record.current_defaults.pop(name, None)
        return value

    def _read_link(self, about: Any, default: T) -> T:
        """Return the link's value if it is there and valid, else the default."""
        record = of_session()
        if (raw := record.link.pop(self.name, None)) is None:
            return default
        if (value := self._from_link(raw, about, None)) is None:
            record.refused.append(self.name)
        return default if value is None else value

    def _from_link(self, raw: str, about: Any, otherwise: Any) -> Any:
        with suppress(ValueError):
            if self._is_allowed(about, value := self.parse(raw)):
                return value
        return otherwise

    def options(self, about: Any = None) -> Sequence[Any]:
        """Return the valid values, of a kind that can list them."""
        raise NotImplementedError

    def _resolve_default(self, about: Any) -> T:
        default: T = self.default(about) if callable(self.default) else self.default
        return default

    def _replace(self, value: T, default: T, about: Any) -> T:
        """Return what takes the place of a chosen value that is no longer valid."""
        return default

    def _is_allowed(self, about: Any, value: T) -> bool:
        return self.allows is None or self.allows(value)

    def enter(self, about: Any = None) -> None:
        """Switch to the current owner's value, before it is read."""
        assert self.scope
        owner = self.scope.owner(about) if callable(self.scope.owner) else self.scope.owner
        scopes = of_session().scopes
        before = scopes.setdefault(self.name, owner)
        if before != owner:
            scopes[self.name] = owner
            self._change_owner(before, owner, about)

    def _change_owner(self, before: Any, owner: Any, about: Any) -> None:
        """Restore the value of an owner that is active again."""
        elsewhere = of_session().elsewhere.setdefault(self.name, {})
        if self.scope and self.scope.keeps and self.is_chosen:
            elsewhere[before] = self.value
        self.forget()
        value = elsewhere.pop(owner, None)
        # After Back the link has the value.
        if value is not None and not self.predates_navigation:
            self.choose(value)

    @property
    def value(self) -> T:
        """The value of a parameter that was read or set before."""
        values = VALUES.get() or {}
        value: T = values[self.name] if self.name in values else st.session_state[self.name]
        return value

    @property
    def has_value(self) -> bool:
        """True if it was read or set before in this session."""
        return self.name in (VALUES.get() or {}) or self.name in st.session_state

    @property
    def is_chosen(self) -> bool:
        """True if the value was chosen, and is not a default that :meth:`read` has set."""
        return self.has_value and of_session().is_chosen(self.name, self.value)

    @property
    def is_known(self) -> bool:
        """True if there is a value in the session, in the link or among the presets."""
        record = of_session()
        return (self.has_value and not self.predates_navigation) or self.name in {**record.link, **record.preset}

    @property
    def predates_navigation(self) -> bool:
        """True if the value predates the last Back or Forward and was not read from its link yet."""
        record = of_session()
        return record.is_back and self.name not in record.believed

    def set(self, value: T) -> None:
        """Set the value, before its widget is drawn in this run, or in a callback."""
        record, name, values = of_session(), self.name, VALUES.get() or st.session_state
        record.last_set[name] = value
        recent = record.set_values.setdefault(name, [])
        recent += [values[name], value] if name in values else [value]
        del recent[:-_MAX_RECENT_VALUES]
        if record.is_back:
            record.believed.add(name)
            record.overruled.setdefault(name, values.get(name, value))
        if name in record.overruled and (record.is_back or name not in record.replacements):
            record.replacements[name] = value
        st.session_state[name] = value
        if (of_run := VALUES.get()) is not None:
            of_run[name] = value

    def choose(self, value: T) -> None:
        """Set the value as chosen by the user, even if it equals the default."""
        self.set(value)
        of_session().current_defaults.pop(self.name, None)

    def forget(self) -> None:
        """Reset the value: it is the default when it is next read."""
        record = of_session()
        if record.is_back and self.has_value:
            record.overruled.setdefault(self.name, self.value)
            record.replacements.pop(self.name, None)
        st.session_state.pop(self.name, None)
        (VALUES.get() or {}).pop(self.name, None)

    def omit_from_link(self, default: T) -> None:
        """Leave this value out of the link in place of the default; the current value then counts as chosen."""
        record = of_session()
        if record.declared[self.name] != default:
            record.declared[self.name] = default
            record.current_defaults.pop(self.name, None)

    def draw(self, widget: Callable[..., Any], label: str, *args: Any, **options: Any) -> Any:
        """Draw a Streamlit widget for the parameter, which must have been read in this run.

        The ``options`` have the value as the widget's default. The browser starts a widget with it that it has no value
        for: those of a run are gone whose elements were lost with a connection while the message of its end was kept.
        """
        fragments = (VALUES.get() or st.session_state)[RECORD.name].fragments
        owner = fragments.owners[self.name]
        if owner and len(owner) < len(fragments.part):
            # What is around the section depends on this parameter, and runs again.
            options = {"on_change": partial(st.rerun, owner[-1]), **options}
        return widget(label, *args, key=self.name, persist_state="session", **options)

    def draw_list(
        self,
        widget: str,
        label: str,
        about: Any = None,
        *,
        says: Callable[[Any], str] = str,
        listed: Sequence[Any] | None = None,
        **options: Any,
    ) -> T:
        """Draw one of Streamlit's widgets that list values, by its name; return the chosen value.

        Args:
            widget: the name; a ``select_slider`` is drawn only if there are several values.
            label: the label.
            about: the page's data.
            says: formats a value; called once for each.
            listed: the values to draw, if not all that are valid.
            options: more for Streamlit.
        """
        value, values = self.read(about), self.options(about) if listed is None else listed
        if widget == "select_slider" and len(values) < 2:
            return value
        labels = {value: says(value) for value in values}
        # The browser shows new labels of the other two by itself.
        if widget not in ("segmented_control", "pills"):
            # A hash will do: the labels of a long text are 20 kB.
            self.resend_on_change(hash(tuple(labels.values())))
        if widget == "select_slider":
            options["value"] = value
        elif widget not in _NAMED_BY_INDEX:
            options["default"] = value
        elif value in values:
            options["index"] = list(values).index(value)
        self.draw(getattr(st, widget), label, values, format_func=labels.__getitem__, **options)
        return value

    def resend_on_change(self, signature: Hashable) -> None:
        """Send a widget its value again if its range or its labels differ from those of the last run.

        Streamlit treats a slider with another range as a new one, which shows its lowest value or that of an earlier
        page, though the session's value is right. Of a select box the browser keeps showing the old label.
        """
        ranges = of_session().ranges
        if ranges.setdefault(self.name, signature) != signature:
            ranges[self.name] = signature
            self.set(self.value)


@dataclass(frozen=True)
class OneOf(Parameter[T]):
    """A parameter with one of a few values: ``among``, or a function of the page's data that lists them.

    Its widgets take the arguments of :meth:`Parameter.draw_list`, and return the value.
    """

    among: Sequence[T] | Callable[[Any], Sequence[T]] | None = field(default=None, kw_only=True)

    def options(self, about: Any = None) -> Sequence[T]:
        """Return the valid values."""
        options: Sequence[T] = self.among(about) if callable(self.among) else self.among or ()
        return options

    def _is_allowed(self, about: Any, value: T) -> bool:
        return value in self.options(about) and super()._is_allowed(about, value)

    selectbox = partialmethod[T](Parameter[T].draw_list, "selectbox")
    radio = partialmethod[T](Parameter[T].draw_list, "radio")
    segments = partialmethod[T](Parameter[T].draw_list, "segmented_control", required=True)
    pills = partialmethod[T](Parameter[T].draw_list, "pills", required=True)
    select_slider = partialmethod[T](Parameter[T].draw_list, "select_slider")
