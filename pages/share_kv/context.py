"""The context of every section: G, the number of key/value heads, and the layer with that many."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from torch import Tensor

from pages.share_kv import compute
from viz import limits
from viz.components.maps import show_maps
from viz.core.cost.attention import kv_cache_bytes
from viz.core.heads import MultiHeadTrace
from viz.core.spec import AttentionSpec
from viz.core.variants.kv_sharing import divisors
from viz.frame.available_models import label_of, models_here
from viz.frame.checks import asked_of
from viz.frame.compute import model
from viz.frame.lazy import lazy
from viz.frame.modes import say
from viz.frame.scene import Scene, SceneContext, mask_has_effect, model_own
from viz.frame.shared import HEAD, MODEL, N_KV_HEADS, SOURCE, Options
from viz.models.registry import SMALL_DECODER
from viz.text import Translate
from viz.text.sizes import size


def spec_with(spec: AttentionSpec, n_kv_heads: int) -> AttentionSpec:
    """Return the same sizes with another G."""
    return replace(spec, n_kv_heads=n_kv_heads)


@dataclass(frozen=True, kw_only=True)
class ShareKvContext(SceneContext):
    """A layer of heads, and G, its number of key/value heads.

    Seeded heads are drawn with G; a model's own are pooled into G.
    """

    n_kv_heads: int

    @property
    def is_model(self) -> bool:
        """True for a model's own heads, which have to be pooled for another G."""
        return self.scene.choice.source.kind == "model"

    @property
    def kv_heads_before(self) -> int:
        """Key/value heads of the layer before pooling."""
        return len(self.scene.trace.k)

    @property
    def spec(self) -> AttentionSpec:
        """Sizes of the layer, with the selected G."""
        return spec_with(self.scene.trace.projections.spec, self.n_kv_heads)

    @property
    def layer_options(self) -> dict[str, Any]:
        """Options of the layer's attention: those of its source, under the user's mask."""
        return asked_of(self.scene)

    @lazy
    def layer(self) -> MultiHeadTrace:
        """Every step of the layer with G key/value heads."""
        return self.with_kv_heads(self.n_kv_heads)

    def with_kv_heads(self, n_kv_heads: int, *, mistake: bool = False) -> MultiHeadTrace:
        """Return the layer with another G; ``mistake`` shares its key/value heads out in the wrong order."""
        choice = self.scene.choice
        return compute.shared(choice.source, choice.layer, choice.mask, n_kv_heads, mistake)


def open_share_kv(scene: Scene) -> ShareKvContext:
    """Read G, the number of key/value heads; the sections that depend on it draw its control."""
    return ShareKvContext(scene=scene, n_kv_heads=N_KV_HEADS.read(_groups(scene)))


def say_cut(context: ShareKvContext) -> None:
    """Say how many tokens a picture takes, where the text has more."""
    place = st.empty()
    if len(context.scene.labels) > limits.SHARED_TOKENS:
        place.caption(context.t("share_kv.first", n=limits.SHARED_TOKENS))


def _groups(scene: Scene) -> Options:
    """Return the valid numbers of key/value heads of the layer."""
    is_model = scene.choice.source.kind == "model"
    groups = divisors(len(scene.trace.k) if is_model else scene.trace.projections.spec.H)
    return Options(groups, groups[len(groups) // 2])


def draw_groups(context: ShareKvContext) -> None:
    """Draw the control of G and a description of the choice."""
    if not context.draws_first("groups"):
        return
    scene, groups, n_kv_heads = context.scene, _groups(context.scene), context.n_kv_heads
    t, spec, before = scene.t, scene.trace.projections.spec, len(scene.trace.k)
    H = spec.H
    N_KV_HEADS.select_slider(
        t("share_kv.groups"),
        groups,
        help=t("choice.n_kv_heads_help"),
        says=lambda G: f"{G} · {spec_with(spec, G).kind}",
    )
    if len(groups.among) > 1:
        say(t("share_kv.says_shared", H=H, each=H // n_kv_heads))
    else:
        st.caption(t("share_kv.own_one", H=H))
    if scene.choice.source.kind == "model" and 1 < before < H:
        st.caption(t("share_kv.own", own=before, H=H))
    _real_sharing(scene)


def choose_head(context: ShareKvContext, n_heads: int) -> int:
    """Draw the control of the head, and return it."""
    label = context.t("share_kv.head")
    return HEAD.slider(label, n_heads) if context.draws_first("head") else HEAD.read(n_heads)


def beside_groups(context: ShareKvContext) -> DeltaGenerator:
    """Draw the control of G at the right, and return the container of the picture beside it."""
    picture, side = st.columns([7, 2], gap="medium")
    with side:
        draw_groups(context)
    return picture


def _real_sharing(scene: Scene) -> None:
    """Offer a model that was trained with shared keys and values; where it is selected, report its savings."""
    t, source, spec = scene.t, scene.choice.source, scene.trace.projections.spec
    if source.heads_of == SMALL_DECODER:
        longest, L = model(SMALL_DECODER).max_tokens, scene.capture.n_layers
        cache, unshared = (
            kv_cache_bytes(spec_with(spec, g), n_tokens=longest, n_layers=L) for g in (len(scene.trace.k), spec.H)
        )
        st.caption(t("share_kv.real_cache", n=f"{longest:,}", L=L, kept=size(cache), unshared=size(unshared)))
    elif SMALL_DECODER in models_here():
        st.caption(t("share_kv.real"))
        st.button(f"{label_of(t, SMALL_DECODER)} →", key="_real_sharing", on_click=_choose_real, type="tertiary")


def _choose_real() -> None:
    SOURCE.choose("model")
    MODEL.choose(SMALL_DECODER)
    N_KV_HEADS.forget()


def say_whose_numbers(context: ShareKvContext, *, are_paired: bool = True) -> None:
    """Note whether the numbers are a model's own, or those of means of its keys and values.

    ``are_paired`` is False where queries read keys and values that are not theirs: then nothing is the model's own.
    """
    t, before = context.t, context.kv_heads_before
    if context.is_model and before > context.n_kv_heads:
        st.caption(t("share_kv.pooled", own=before, G=context.n_kv_heads))
    elif context.is_model and are_paired and not mask_has_effect(context.scene):
        st.caption(model_own(t, context.scene.choice.source.model))


def say_if_not_causal(context: ShareKvContext) -> None:
    """Note that a model's heads attend ahead, as no decoder's do."""
    looks = context.layer.masked.isfinite().any(0)
    if context.is_model and bool(looks.triu(1).any()):
        st.caption(context.t("share_kv.not_causal"))


def map_pair(t: Translate, titles: Sequence[str], maps: Tensor, labels: Sequence[str], *, key: str) -> Tensor:
    """Draw one or two maps of weights on the same tokens, side by side; return them as the browser reads them."""
    return show_maps(t, titles, maps, tuple(labels), key=key, axes=t("share_kv.axes"))
