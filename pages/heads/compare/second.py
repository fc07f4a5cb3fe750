"""The second text and the second model: their controls and notes."""

from dataclasses import dataclass, replace

import streamlit as st

from pages.heads.compare.compute import ComparisonKey
from viz import limits
from viz.errors import ModelError
from viz.frame import compute, specs
from viz.frame.available_models import list_models, models_here, require_file
from viz.frame.examples import counterpart
from viz.frame.scene import Scene, cuts, say_error
from viz.frame.shared import TEXT
from viz.models.tokens import read_text
from viz.params import Choice

TEXT_B = TEXT.variant(name="text_b")
MODEL_B = Choice("model_b", among=lambda models: models)
SAME = ""
"""The code of "the same model" in the list of second models."""


@dataclass(frozen=True, kw_only=True)
class Second:
    """A scene with the second text or the second model, and why it is compared by words, if it is.

    ``one_training``: the second model is the first at another point of its training, so their heads have one order.
    """

    scene: Scene
    other_model: bool
    by_words: bool
    one_training: bool


def ask_second(scene: Scene) -> Second | None:
    """Draw the box of the second text, and the list of second models; None, with a sentence, if it cannot be read."""
    source = scene.choice.source
    with st.container(key="text_b_row", horizontal=True, gap="small"):
        place = st.container(key="text_b_box")
        model = _model(scene) if source.kind == "model" else SAME
    other_model = bool(model) and model != source.model
    default = source.text if other_model else counterpart(source.text) or source.text
    text = TEXT_B.text_box(
        scene.t("second.text"),
        default,
        draw=place.text_area,
        height="content",
        placeholder=scene.t("choice.text_help"),
        label_visibility="collapsed",
    )
    second_source = replace(source, text=text[: limits.CHARACTERS], model=model or source.model)
    try:
        second = _open(scene, second_source, max(0, len(text) - limits.CHARACTERS))
        by_words = other_model and not _same_tokens(source, second_source)
    except ModelError as error:
        say_error(scene.t, error)
        return None
    cuts(second)
    if second_source == source:
        st.caption(scene.t("second.no_change"))
    one_training = other_model and _training_of(source.model) == _training_of(second_source.model)
    return Second(scene=second, other_model=other_model, by_words=by_words, one_training=one_training)


def _model(scene: Scene) -> str:
    """The second model; SAME where none is chosen, or there is no other. Points of one training stand first."""
    first = scene.choice.source.model
    other_models = [name for name in list_models(first) if name != first]
    other_models.sort(key=lambda name: _training_of(name) != _training_of(first))
    selected = MODEL_B.read([SAME, *other_models])
    if other_models:
        same_model = scene.t("second.same_model")
        MODEL_B.selectbox(
            scene.t("second.model"),
            [SAME, *other_models],
            says=lambda name: name or same_model,
            width=220,
            label_visibility="collapsed",
        )
    return selected


def _training_of(model: str) -> str:
    """The model that a training ends with; one that is gone since is by itself."""
    entry = models_here().get(model)
    return entry.trained_as if entry else model


def _open(scene: Scene, source: specs.Source, n_dropped: int) -> Scene:
    """The scene of the second text, as the page's own is made."""
    require_file(source.model)
    capture = compute.read(source)
    layer = min(scene.choice.layer, capture.n_layers - 1)
    choice = replace(scene.choice, source=source, layer=layer, dropped_characters=n_dropped)
    return replace(scene, choice=choice)


def _same_tokens(a: specs.Source, b: specs.Source) -> bool:
    """Return whether both models split both texts into the same tokens."""
    of_a, of_b = (compute.model(source.model) for source in (a, b))
    for text in {a.text, b.text}:
        tokens = [read_text(model.tokenizer, text, min(limits.TOKENS, model.max_tokens)) for model in (of_a, of_b)]
        if tokens[0].ids != tokens[1].ids or tokens[0].labels != tokens[1].labels:
            return False
    return True


def compared_of(scene: Scene, second: Second, view: specs.View, head: int) -> ComparisonKey:
    """The key of the comparison. It always uses weights, as scores of two texts have no common zero.

    Every head with its like on the other side; one head with all of a second model that is another one.
    """
    return ComparisonKey(
        a=scene.choice.source,
        b=second.scene.choice.source,
        mask=scene.choice.mask,
        view=replace(view, what="weights", merge=view.merge or second.by_words),
        head=(scene.choice.layer, head) if second.other_model and not second.one_training else None,
    )
