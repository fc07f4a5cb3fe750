"""The pages that bench/grid.py measures: the head grid alone, and as many heads as subplots of plotly."""

import itertools

import streamlit as st
from plotly.subplots import make_subplots

from viz.frame import compute, specs
from viz.frame.compute import head_grid
from viz.frame.head_grid.grid import grid
from viz.frame.inputs import Chips, Choice
from viz.frame.scene import Scene
from viz.frame.shared import LANG
from viz.models.registry import entries
from viz.params import Int, link
from viz.text import translator

WORDS = ("the", "animal", "crossed", "a", "street", "because", "it", "was", "tired")


def source_of(n_tokens: int, turn: int = 0) -> specs.Source:
    """Return a text of so many tokens inside the default model; each turn begins with another word."""
    words = itertools.islice(itertools.cycle(WORDS[turn:] + WORDS[:turn]), n_tokens - 2)
    return specs.Source(kind="model", text=" ".join(words), model=entries()[0].id)


def draw_grid() -> None:
    """Draw a slider that changes the text, and the grid of ``?tokens=`` tokens."""
    st.set_page_config(layout="wide")
    compute.warm()
    link.begin()
    source = source_of(Int("tokens", 64, low=3, high=512).read(), st.slider("n", 0, 9, key="n") % 2)
    lang = LANG.variant(default="en").read()
    choice = Choice(lang=lang, source=source, layer=3, mask=specs.Mask(), dropped_characters=0)
    grid(Scene(t=translator(lang), choice=choice, chips=Chips("Settings")), specs.View())
    link.end()


def draw_subplots() -> None:
    """Draw the same heads of 64 tokens in one figure of plotly."""
    compute.warm()
    source, figure = source_of(64, st.slider("n", 0, 9, key="n") % 2), make_subplots(6, 12)
    for layer in range(6):
        weights = head_grid.layer_maps(source, layer, specs.Mask(), specs.View()).values
        for head in range(12):
            figure.add_heatmap(z=weights[head].numpy(), coloraxis="coloraxis", row=layer + 1, col=head + 1)
    figure.update_layout(height=700)
    st.plotly_chart(figure, key="all")
