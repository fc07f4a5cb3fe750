"""Views that run in the browser: Streamlit components (v2) whose code is served from ``client/`` by URL.

Streamlit serves a component's files for installed packages only; this project also runs from a plain checkout, so it
hands Streamlit the manifest itself. By URL, and not as text, because then modules can import each other, the code
is not sent again with each change, and a content policy that allows scripts from the server itself alone is met.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

PACKAGE, FOLDER = "headlight", "client"


@cache
def _component(name: str) -> Callable[..., Any]:
    css = (Path(__file__).parent / FOLDER / f"{name}.css").read_text("utf8")
    return st.components.v2.component(f"{PACKAGE}.{name}", css=css, js=f"{name}.js")


def mount(name: str, *, key: str, data: Any, **callbacks: Callable[[], None]) -> Any:
    """Show the view ``client/<name>.js`` (with ``<name>.css``), or give it new data.

    Args:
        name: of the view.
        key: of this place on the page; the view's own state lives as long as the key stays.
        data: bytes, or what JSON can hold.
        callbacks: ``on_<name>_change``, called when the view reports that.
    """
    manager = get_bidi_component_manager()  # each AppTest has its own, and so has a server that starts again
    if manager.get_component_asset_root(f"{PACKAGE}.{name}") is None:
        manifest = ComponentManifest(PACKAGE, "1", [ComponentConfig(name, FOLDER)])
        manager.register_from_manifest(manifest, Path(__file__).parent)
    return _component(name)(key=key, data=data, **callbacks)
