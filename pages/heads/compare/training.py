"""One model at two points of its training: the way there, and whether a head that copies is there yet."""

import streamlit as st

from pages.heads.compare import by_numpy, compute
from pages.heads.compare.second import MODEL_B, TEXT_B, Second
from viz.frame.available_models import models_here
from viz.frame.checks import Check, check
from viz.frame.compute import read
from viz.frame.format import part
from viz.frame.modes import say
from viz.frame.scene import Scene
from viz.frame.shared import MODEL, QUERY, TEXT
from viz.models.trained.twins import REPEATING


def offer_training(scene: Scene, second: Second) -> None:
    """A button to the same model early in its training, where points of it were kept and no other model is chosen."""
    model = scene.choice.source.heads_of
    earlier = [entry for entry in models_here().values() if model and entry.of == model]
    if second.other_model or not earlier:
        return
    label = scene.t("second.earlier", model=model, n=earlier[0].step)
    st.button(label, key="earlier", on_click=_compare, args=(earlier[0].id, model), type="tertiary")


def _compare(model: str, model_b: str) -> None:
    """Two points of a training, the earlier first: the difference is what was learned in between.

    The same text for both, one in which words come again: else there is nothing to copy.
    """
    MODEL.choose(model)
    MODEL_B.choose(model_b)
    TEXT.choose(REPEATING)
    TEXT_B.forget()
    QUERY.choose(len(REPEATING.split()) - 1)


def training(scene: Scene, second: Second) -> list[Check]:
    """The weight of both best induction heads on the copied tokens; nothing unless both are of one training."""
    if not second.one_training:
        return []
    sources, mask = (scene.choice.source, second.scene.choice.source), scene.choice.mask
    copying_heads = [compute.copying(source, mask) for source in sources]
    if None in copying_heads:
        st.caption(scene.t("second.nothing_to_copy"))
        models = tuple(source.model for source in sources)
        st.button(scene.t("second.repeating"), key="repeating", on_click=_compare, args=models, type="tertiary")
        return []
    sides = [side for side in copying_heads if side is not None]
    if not all(side.even for side in sides):
        st.caption(scene.t("second.copy_hidden"))
        return []
    numbers = {
        f"{name}{which}": value
        for which, source, side in zip(("", "_b"), sources, sides, strict=True)
        for name, value in {
            "model": source.model, "layer": read(source).number(side.head[0]), "head": side.head[1],
            "weight": part(side.weight), "even": part(side.even),
        }.items()
    }  # fmt: skip
    say(scene.t("second.copying", **numbers))
    off = [
        abs(side.weight - by_numpy.copying_by_torch(source, mask)) for source, side in zip(sources, sides, strict=True)
    ]
    return [check("second.check_copying", max(off), 1e-5)]
