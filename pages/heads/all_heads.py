"""Every head as a small map, one of them large; and what is known of that one."""

import streamlit as st

from pages.heads import downloads
from pages.heads.context import HeadsContext
from viz.components.cover import is_covered
from viz.frame.checks import Check, scene_checks
from viz.frame.examples import counterpart, examples
from viz.frame.head_grid.checks import grid_checks
from viz.frame.head_grid.grid import grid
from viz.frame.links import link_to
from viz.frame.modes import say
from viz.frame.scene import Scene
from viz.frame.shared import TEXT
from viz.models.head_notes import note


def draw(context: HeadsContext) -> list[Check]:
    """The head grid, and the note on the chosen head."""
    chosen = grid(context.scene, context.view)
    compare_with(context.scene)
    if not is_covered():  # it says what the head does
        head_note(context.scene, chosen.layer, chosen.head)
    return [*scene_checks(context.scene), *grid_checks(context.scene, context.view, chosen.layer, chosen.head)]


def compare_with(scene: Scene) -> None:
    """The way to the same sentence with one word changed, where there is one to compare with."""
    if other := counterpart(scene.choice.source.text):
        st.html(link_to(scene.choice.lang, ("heads", "compare", ""), f"{scene.t('heads.compare_with')} {other}"))


def save(context: HeadsContext) -> None:
    """What can be taken away: the chosen head, the layer, the lines of torch."""
    downloads.downloads(context.scene, context.head, context.view)


def head_note(scene: Scene, layer: int, head: int) -> None:
    """What is known of this head and what must not be read into it, with sentences to try."""
    known = note(scene.choice.source.heads_of, layer, head)
    if known is None:
        return
    with st.container(border=True):
        say(
            f"**{scene.t('heads.note', layer=scene.capture.number(layer), head=head)}** {known.text[scene.choice.lang]}"
        )
        sentences = {example.code: example for example in examples()}
        for code in known.examples:
            st.button(
                f"{scene.t('heads.try')} {sentences[code].text}",
                key=f"try_{code}",
                on_click=TEXT.set,
                args=(sentences[code].text,),
            )
