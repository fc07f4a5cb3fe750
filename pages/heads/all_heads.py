"""Every head as a small map, one of them large, with that head's facts."""

import streamlit as st

from pages.heads import downloads
from pages.heads.context import HeadsContext
from viz.frame.checks import Check, grid_checks, scene_checks
from viz.frame.examples import counterpart, examples
from viz.frame.head_grid.grid import grid
from viz.frame.links import link_to
from viz.frame.modes import say, shows
from viz.frame.scene import Scene
from viz.frame.shared import TEXT
from viz.models.head_notes import note


def draw(context: HeadsContext) -> list[Check]:
    """The head grid, and the note on the chosen head."""
    selected = grid(context.scene, context.view)
    compare_with(context.scene)
    if shows("answers"):
        head_note(context.scene, selected.layer, selected.head)
    return [*scene_checks(context.scene), *grid_checks(context.scene, context.view, selected.layer, selected.head)]


def compare_with(scene: Scene) -> None:
    """The way to the same sentence with one word changed, where there is one to compare with."""
    if counter_text := counterpart(scene.choice.source.text):
        st.html(link_to(scene.choice.lang, ("heads", "compare", ""), f"{scene.t('heads.compare_with')} {counter_text}"))


def save(context: HeadsContext) -> None:
    """Downloads of the selected head, the layer and the lines of torch."""
    downloads.downloads(context.scene, context.head, context.view)


def head_note(scene: Scene, layer: int, head: int) -> None:
    """Notes on this head and their limits, with sentences to try."""
    entry = note(scene.choice.source.heads_of, layer, head)
    if entry is None:
        return
    with st.container(border=True):
        say(
            f"**{scene.t('heads.note', layer=scene.capture.number(layer), head=head)}** {entry.text[scene.choice.lang]}"
        )
        sentences = {example.code: example for example in examples()}
        for code in entry.examples:
            st.button(
                f"{scene.t('heads.try')} {sentences[code].text}",
                key=f"try_{code}",
                on_click=TEXT.set,
                args=(sentences[code].text,),
            )
