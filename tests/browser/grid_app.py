"""The head grid and nothing else on a page, for tests of the grid alone."""

import streamlit as st
from starlette.middleware import Middleware

from viz.frame import specs
from viz.frame.examples import examples
from viz.frame.head_grid.grid import HIDE, MERGE, WHAT, grid
from viz.frame.inputs import MASK, Chips, Choice
from viz.frame.scene import Scene
from viz.frame.shared import LANG, LAYER, SOURCE, TEXT
from viz.host.files import Files
from viz.models.registry import entries
from viz.params import link
from viz.text import translator


def draw() -> None:
    st.set_page_config(layout="wide")
    link.begin()
    lang = LANG.variant(default="en").read()
    text = TEXT.read(examples()[0].text)
    layer = LAYER.read(range(6))
    mask = specs.Mask(kind=MASK.read())
    source = specs.Source(kind="model", text=text, model=entries()[0].id)
    if SOURCE.read() == "words":
        source, layer = specs.Source(kind="words", text=text, d_model=16, n_heads=4, n_kv_heads=4), 0
    what, merge, hide = WHAT.read(), MERGE.read(), HIDE.read()
    st.segmented_control("what", ("weights", "scores"), key="what", required=True)
    st.selectbox("mask", specs.MASKS, key="mask", format_func=lambda code: translator(lang)(f"mask.{code}"))
    st.toggle("merge", key="merge")
    st.toggle("hide", key="hide")
    choice = Choice(lang=lang, source=source, layer=layer, mask=mask, dropped_characters=0)
    scene = Scene(t=translator(lang), choice=choice, chips=Chips("Settings"))
    grid(scene, specs.View(what=what, merge=merge, hide=hide))
    link.end()


if __name__ == "__main__":
    draw()
else:
    app = st.App("grid_app.py", middleware=[Middleware(Files)])
