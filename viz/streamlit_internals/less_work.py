"""What Streamlit works out again and again, worked out once: a sixth of what a run takes of the server."""

from collections.abc import Iterator, Mapping
from functools import cache, partial
from typing import Any

from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.state import SafeSessionState

from viz.streamlit_internals.containment import attempt, current_session


@cache
def work_less() -> None:
    """All of it, for the whole process."""
    work_out_once()
    ask_for_one_value()
    read_values()


def work_out_once() -> None:
    """Have Streamlit read the theme's some hundred settings once, and not six times in every run."""
    populate = app_session._populate_theme_msg

    @cache
    def theme(section: str) -> CustomThemeConfig:
        made = CustomThemeConfig()
        populate(made, section)
        return made

    def copy(msg: CustomThemeConfig, section: str = "theme") -> None:
        attempt("theme", copy, lambda: msg.MergeFrom(theme(section)), lambda: populate(msg, section))

    app_session._populate_theme_msg = copy


class _Values(Mapping[str, Any]):
    """All values of a session by their names, each worked out when it is asked for."""

    def __init__(self, state: SafeSessionState) -> None:
        self._safe = state

    def __contains__(self, name: object) -> bool:
        return attempt("values", current_session(), partial(_has, self._safe, name), lambda: name in self._all())

    def __getitem__(self, name: str) -> Any:
        value, from_all = partial(_value, self._safe, name), lambda: self._all()[name]
        return attempt("values", current_session(), value, from_all, passes=(KeyError,))

    def _all(self) -> Mapping[str, Any]:
        with self._safe._lock:
            return self._safe._state.filtered_state

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


def ask_for_one_value() -> None:
    """Have a control ask for its own value alone: each slider and each list would have every control's gathered."""
    SafeSessionState.filtered_state = property(_Values)  # type: ignore[assignment,method-assign]


def read_values() -> None:
    """Have a value be read without a look at whether the run is to end: there is one at all that it draws."""
    SafeSessionState.__getitem__ = _read  # type: ignore[method-assign]


_read_and_look = SafeSessionState.__getitem__
"""Streamlit's own."""


def _read(state: SafeSessionState, name: str) -> Any:
    value, value_after_look = partial(_value, state, name), partial(_read_and_look, state, name)
    return attempt("values", current_session(), value, value_after_look, passes=(KeyError,))


def _has(state: SafeSessionState, name: object) -> bool:
    with state._lock:
        return name in state._state


def _value(state: SafeSessionState, name: str) -> Any:
    with state._lock:
        return state._state[name]
