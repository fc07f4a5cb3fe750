"""Context of the page's sections: a long text as the model reads it, and one head."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.long_text import compute
from pages.long_text.compute import LongText
from pages.long_text.texts import choose_text, default_text, shipped
from viz import limits
from viz.frame.available_models import label_of, models_here
from viz.frame.checks import Check
from viz.frame.compute import model
from viz.frame.compute.long_texts import most_tokens, report_progress
from viz.frame.inputs import PageInputs
from viz.frame.lazy import lazy
from viz.frame.modes.figure_facts import note_source
from viz.frame.scene import Scene, SceneContext, chosen_head, model_own, say_layer_kinds, source_line, unknown_tokens
from viz.frame.shared import MODEL
from viz.models.long.capture import LongCapture, longest
from viz.models.registry import SMALL_DECODER
from viz.params.memory import Remembered
from viz.text import Translate, paragraph

__all__ = ["about", "default_text", "on_the_beginning", "open_long_text"]

BEGINNING = 200
"""Characters of the text that the scene is opened on: what the other pages need of it would be a matrix."""
SOON = 0.7
"""Seconds before a pass shows its progress: most are over by then."""


@dataclass(frozen=True, kw_only=True)
class LongTextContext(SceneContext):
    """A text as the model saw it, and the head that is shown."""

    text: LongText
    head: int

    @lazy
    def seen(self) -> LongCapture:
        """The text as the model saw it."""
        return compute.read(self.text)

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the tokens."""
        return self.seen.tokens.labels

    @property
    def n(self) -> int:
        """The number of tokens read."""
        return len(self.labels)

    @property
    def layer(self) -> int:
        """The layer that is shown."""
        return self.scene.choice.layer


def on_the_beginning(inputs: PageInputs) -> PageInputs:
    """Have the scene opened on the beginning of the text."""
    source = inputs.choice.source
    short = replace(source, text=source.text.lstrip()[:BEGINNING])
    return replace(inputs, choice=replace(inputs.choice, source=short))


def about(scene: Scene) -> None:
    """Show the source of the numbers."""
    t, source = scene.t, scene.choice.source
    line = source_line(scene, "long_text", layers=scene.capture.n_layers)
    st.caption(paragraph(line, model_own(t, source.model)) if source.kind == "model" else line)
    if source.kind == "model":
        say_layer_kinds(scene)


def open_long_text(scene: Scene) -> LongTextContext | None:
    """Draw the controls all sections share, and read the text; None where that was stopped."""
    source = scene.choice.source
    head = chosen_head(scene, scene.t("long_text.head"), scene.trace.projections.spec.H)
    most = longest(model(source.model)) if source.kind == "model" else limits.LONGEST
    choice = choose_text(scene, most)
    text = LongText(source=replace(source, text=choice.text), times=choice.times, most=choice.most)
    with _watch_progress(scene.t, text) as is_stopped:
        if is_stopped:
            return None
        context = LongTextContext(scene=scene, text=text, head=head)
        context.seen  # noqa: B018 -- shows the progress of the pass
    # The page's own source is the beginning of the box's text.
    note_source(scene.t, text.source)
    _say_what_is_read(context, most=most, is_file=choice.is_file)
    return context


_STOPPED_TEXT: Remembered[str | None] = Remembered("_long_stopped", default=None)
"""The text whose pass was stopped, by its hash."""


@contextmanager
def _watch_progress(t: Translate, text: LongText) -> Iterator[bool]:
    """Show the progress of the text's pass inside the ``with``, with a stop button; yield True once stopped."""
    stopped_code, code = _STOPPED_TEXT.read(), f"{hash(text):x}"
    place = st.empty()
    if stopped_code == code:
        with place.container():
            st.info(t("long_text.stopped"))
            st.button(t("long_text.go_on"), key="long_go_on", type="primary", on_click=_stop, args=(None,))
        yield True
        return
    with report_progress(_Progress(t, place, code)):
        yield False
    place.empty()


class _Progress:
    """Says below the chips how far a pass is, with a button to stop it, once it takes long."""

    def __init__(self, t: Translate, place: DeltaGenerator, code: str) -> None:
        self.t, self.place, self.code = t, place, code
        self.began = time.monotonic()
        self.bar: DeltaGenerator | None = None

    def __call__(self, share: float) -> None:
        """So much is done."""
        if time.monotonic() < self.began + SOON:
            return
        text = self.t("long_text.reading", share=f"{share:.0%}")
        if self.bar is None:
            with self.place.container():
                self.bar = st.progress(share, text=text)
                st.button(self.t("long_text.stop"), key="long_stop", on_click=_stop, args=(self.code,))
        else:
            self.bar.progress(share, text=text)


def _stop(code: str | None) -> None:
    _STOPPED_TEXT.set(code)


def _say_what_is_read(context: LongTextContext, *, most: int, is_file: bool) -> None:
    """Show the number of tokens read and dropped, and a model that reads more."""
    t, tokens, source = context.t, context.seen.tokens, context.text.source
    parts = [t("long_text.read", n=context.n)]
    if tokens.n_excess:
        parts.append(t("long_text.left_out", n=tokens.n_excess))
    if is_file:
        parts.append(t("long_text.not_in_link"))
    is_the_models_limit = tokens.n_excess and context.n >= most and most < most_tokens()
    reads_more = is_the_models_limit and source.model != SMALL_DECODER and SMALL_DECODER in models_here()
    if source.kind == "model" and reads_more:
        with st.container(horizontal=True, gap="small", vertical_alignment="center", key="long_said"):
            st.caption(paragraph(*parts), width="content")
            label = t("long_text.take", model=label_of(t, SMALL_DECODER))
            st.button(label, key="long_take", type="tertiary", on_click=MODEL.choose, args=(SMALL_DECODER,))
    else:
        st.caption(paragraph(*parts))
    unknown_tokens(t, source.model, tokens)
    if context.scene.choice.dropped_characters and not is_file:
        st.warning(t("note.dropped_characters", n=context.scene.choice.dropped_characters))


def say_whose_text(context: LongTextContext) -> None:
    """Say below a picture whose text it is, of the one that the page opens with."""
    if context.text.source.text.strip() == shipped():
        st.caption(context.t("long_text.shipped"))


Draw = Callable[[LongTextContext], list[Check]]


def unless_stopped(draw: Draw) -> Callable[[LongTextContext | None], list[Check]]:
    """A section that has nothing to draw where the pass was stopped."""

    @wraps(draw)
    def draw_unless_stopped(context: LongTextContext | None) -> list[Check]:
        return [] if context is None else draw(context)

    return draw_unless_stopped
