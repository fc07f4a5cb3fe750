"""Every name of Streamlit's that is not public, in one place: what to look at when its version changes."""

import viz.streamlit_internals.version  # noqa: F401 - before any private name is imported

# isort: split

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlencode

from streamlit.runtime.pages_manager import PagesManager
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.scriptrunner_utils.script_run_context import get_run_yield_check


def takes_pages_for_scripts() -> bool:
    """Whether Streamlit still believes that the folder called pages holds the pages of its old kind of app."""
    return bool(PagesManager.uses_pages_directory)


def pages_are_no_scripts() -> None:
    """Tell Streamlit, for the whole process, that the folder called pages is not of its old kind of app."""
    PagesManager.uses_pages_directory = False


def page_hash() -> str:
    """What Streamlit calls the page of this run."""
    context = get_script_run_ctx()
    return context.page_script_hash if context else ""


def page_path() -> str:
    """What the page of this run is called in the address bar; "" for the first."""
    context = get_script_run_ctx()
    known: Mapping[Any, Any] = context.pages_manager.get_pages() if context else {}
    return str(known.get(page_hash(), {}).get("url_pathname", "")) if len(known) > 1 else ""


def is_back_or_forward() -> bool:
    """Whether this run was asked for by the browser's Back or Forward; the frontend then replaces what is written."""
    context = get_script_run_ctx()
    return bool(context and context.is_history_navigation)


def note_address(link: Mapping[str, str]) -> None:
    """Tell Streamlit what stands in the address bar, without having the browser write it."""
    if context := get_script_run_ctx():
        with context.session_state.query_params() as held:
            held.clear_with_no_forward_msg(preserve_embed=True)
            for name, value in link.items():
                held.set_with_no_forward_msg(name, value)
            context.query_string = urlencode(dict(held.items()))


def texts_sent() -> Mapping[str, str]:
    """What the browser sent for every text box with this run, by the widget's id."""
    context = get_script_run_ctx()
    sent = context.session_state.get_widget_states() if context else []
    return {box.id: box.string_value for box in sent}


def yield_check() -> Callable[[], None] | None:
    """A function that ends this run if its visitor has left or clicked elsewhere; None outside a run."""
    check: Callable[[], None] | None = get_run_yield_check()
    return check
