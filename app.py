"""Headlight's frame: language, the shared sidebar, the pages. Run it with ``streamlit run app.py``."""

from pathlib import Path

import streamlit as st

from viz.models.registry import ModelError
from viz.ui import compute, controls, layout, state, waiting
from viz.ui.come_back import come_back
from viz.ui.first_visit import use_own_pages

ROOT = Path(__file__).parent
PAGES = {
    "heads": "heads.py",
    "step-by-step": "step_by_step.py",
    "share-kv": "share_kv.py",
    "positions": "positions.py",
    "masks": "masks.py",
    "two-sequences": "two_sequences.py",
    "block": "block.py",
    "stacking": "stacking.py",
    "convolution": "convolution.py",
    "cost": "cost.py",
}

use_own_pages(PAGES)
st.set_page_config(page_title="Headlight", page_icon=str(ROOT / "assets" / "favicon.png"), layout="wide")
st.html(ROOT / "assets" / "style.css")
compute.warm()
state.begin()
with st.sidebar:
    t = controls.language()
try:
    with waiting.writing():
        nav = st.navigation(
            [
                st.Page(
                    ROOT / "pages" / file,
                    title=t(f"{file.removesuffix('.py')}.title"),
                    url_path=path,
                    default=path == "heads",
                )
                for path, file in PAGES.items()
            ]
        )
        with st.sidebar:
            try:
                st.session_state["_choice"] = controls.sidebar(t, nav.url_path)
            except ValueError as error:  # a model that cannot be used: the page says so
                st.session_state["_choice"] = error.with_traceback(None)
        nav.run()
except ModelError as error:  # too busy, or what was asked for failed: what the visitor typed is still there
    layout.say_error(t, error)
layout.note_refused(t)
come_back()
state.end()
