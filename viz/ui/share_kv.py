"""The one control of the Sharing page, G, and what follows from it: who shares with whom, and what pooling changes."""

from dataclasses import dataclass
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from viz.core.checks import largest, sdpa_error
from viz.core.heads import MultiHeadTrace, split_heads
from viz.core.measures import total_variation, uniform
from viz.core.sharing import attend_mqa, divisors, kv_head_of, repeat_kv
from viz.figures.bars import bars
from viz.figures.palette import BLUE, HEADS, ORANGE
from viz.text import Translate
from viz.ui import compute, limits, state
from viz.ui.controls import KEEP
from viz.ui.layout import SDPA, Check, Scene, attention_checks, blocks_more, check, show
from viz.views.maps import Panel, pack_maps
from viz.views.mount import mount
from viz.views.sharing import pack_sharing

WORDS = {
    "picture": ("rest", "group", "group_one", "k", "v", "head", "wrong", "says"),
    "cache": (
        "keys", "values", "group", "play", "pause", "scrub", "place", "here", "mha", "written", "held", "read", "total",
    ),
}  # fmt: skip
HUES = {"positive": BLUE, "negative": ORANGE, "heads": HEADS}


@dataclass(frozen=True, kw_only=True)
class Sharing:
    """What the page shows: a layer with G key/value heads, and the same layer as it was, with ``own`` of them.

    ``shown`` is ``layer``, or the layer with the classic mistake if the visitor switched that on.
    """

    scene: Scene
    layer: MultiHeadTrace
    shown: MultiHeadTrace
    mistake: bool

    @property
    def n_kv_heads(self) -> int:
        """G, as chosen."""
        return len(self.layer.k)

    @property
    def own(self) -> int:
        """Key/value heads of the layer before any were pooled."""
        return len(self.scene.trace.k)

    @property
    def n_heads(self) -> int:
        """H."""
        return len(self.layer.q)


def words(t: Translate, view: str) -> dict[str, str]:
    """A view's own words, to be filled in by the browser: the texts below ``share_kv.<view>``."""
    return {name: t(f"share_kv.{view}.{name}") for name in WORDS[view]}


def choose(scene: Scene) -> Sharing:
    """The controls: G, and the mistake."""
    t, choice = scene.t, scene.choice
    H, own = len(scene.trace.q), len(scene.trace.k)
    seeded = choice.source.kind != "model"
    groups = divisors(H if seeded else own)
    G = state.pick("n_kv_heads", groups[len(groups) // 2], groups)
    mistake = state.flag("mistake")
    columns = st.columns([3, 2], vertical_alignment="bottom")
    if len(groups) > 1:
        columns[0].select_slider(
            f"{t('share_kv.groups')}: **{t(f'share_kv.g_{_kind(H, G)}', G=G)}**", groups, key="n_kv_heads",
            persist_state=KEEP, help=t("sidebar.n_kv_heads_help"),
        )  # fmt: skip
    columns[1].toggle(t("share_kv.mistake"), key="mistake", persist_state=KEEP, help=t("share_kv.mistake_help"))
    if len(groups) == 1:
        st.caption(t("share_kv.own_one", H=H))
    elif not seeded and own < H:
        st.caption(t("share_kv.own", own=own, H=H))
    if not seeded and own > G:
        st.caption(t("share_kv.pooled", own=own, G=G))
    elif not seeded and not blocks_more(scene):
        st.caption(t("source.model_own"))
    layer = compute.shared(choice.source, choice.layer, choice.mask, G)
    shown = compute.shared(choice.source, choice.layer, choice.mask, G, mistake=True) if mistake else layer
    return Sharing(scene=scene, layer=layer, shown=shown, mistake=mistake)


def _kind(H: int, G: int) -> str:
    return "mha" if G == H else "mqa" if G == 1 else "gqa"


def _apart(trace: MultiHeadTrace) -> Tensor:
    """What lies between the scaled scores and the softmax: mask, bias, soft cap."""
    return trace.masked - trace.scaled


def checks(sharing: Sharing) -> list[Check]:
    """Live checks of the layer shown; with the mistake switched on they must fail, and say so."""
    shown, G, H = sharing.shown, sharing.n_kv_heads, sharing.n_heads
    found = attention_checks(shown)
    if G == H == sharing.own:
        off = (shown.output - sharing.scene.trace.output).abs().max()
        found.append(check("share_kv.check_mha", off, 0.0))
    if G == 1 and bool(torch.isfinite(shown.masked).any(-1).all()):
        alone = attend_mqa(shown.q, shown.k[0], shown.v[0], masked_by=_apart(shown), scale=shown.scale)
        found.append(
            check("share_kv.check_mqa", (alone - shown.head_outputs).abs().max(), 1e-5 * largest(shown.head_outputs))
        )
    own = shown.projections
    if not _turned(sharing):
        k = split_heads(shown.memory @ own.w_k + (0 if own.b_k is None else own.b_k), G)
        found.append(check("share_kv.check_pool", (k - shown.k).abs().max(), 1e-4 * largest(k), G=G))
    return found


def _turned(sharing: Sharing) -> bool:
    """RoPE turns k after its projection, so that k is not X W_K."""
    choice = sharing.scene.choice
    return sharing.scene.capture.calls[choice.layer].rotary


def picture(sharing: Sharing) -> None:
    """The brackets: which query heads share which keys and values, and what each makes of them."""
    t, scene, shown = sharing.scene.t, sharing.scene, sharing.shown
    H, G, n = sharing.n_heads, sharing.n_kv_heads, min(len(scene.labels), limits.SHARED_TOKENS)
    if n < len(scene.labels):
        st.caption(t("share_kv.first", n=n))
    reads = kv_head_of(H, G, repeat_kv) if sharing.mistake else kv_head_of(H, G)
    data = pack_sharing(
        shown.k[:, :n], shown.v[:, :n], shown.weights[:, :n, :n], reads=reads,
        labels=scene.labels[:n], words=words(t, "picture"), hues=HUES,
    )  # fmt: skip
    mount("sharing", key="share_picture", data=data)
    st.text(t("share_kv.shapes", H=H, G=G, n=len(scene.labels), d_k=shown.k.shape[-1], d_v=shown.v.shape[-1]))
    if sharing.mistake:
        _mistaken(sharing, sum(i * G // H != one for i, one in enumerate(reads)))


def _mistaken(sharing: Sharing, wrong: int) -> None:
    """What the mistake did: to so many heads, to the output, and whether the badge noticed."""
    t, shown, H = sharing.scene.t, sharing.shown, sharing.n_heads
    off = float((shown.output - sharing.layer.output).abs().max())
    if not wrong:
        st.caption(t("share_kv.mistake_none"))
    elif sdpa_error(shown) > SDPA * largest(shown.head_outputs):
        st.warning(t("share_kv.mistake_found", wrong=wrong, H=H, off=f"{off:.2g}"))
    else:
        st.info(t("share_kv.mistake_quiet", wrong=wrong, H=H))


def distances(sharing: Sharing) -> dict[int, Tensor]:
    """How far each head's rows are from what they were, for every G: the mean total variation, (H,)."""
    choice, before = sharing.scene.choice, sharing.scene.trace.weights
    pooled = {g: compute.shared(choice.source, choice.layer, choice.mask, g) for g in divisors(sharing.own)}
    return {g: total_variation(trace.weights, before).mean(-1) for g, trace in pooled.items()}


def _scale(before: MultiHeadTrace) -> tuple[float, float]:
    """Two numbers to judge a distance by: between two heads of the layer, and from a head to an even spread."""
    weights = before.weights
    H = len(weights)
    between = sum(float(total_variation(weights, one.expand(H, -1, -1)).mean()) for one in weights)
    pairs = between / (H - 1) if H > 1 else 0.0
    even = uniform(before.masked.isfinite().any(0))
    return pairs, float(total_variation(weights, even.expand(H, -1, -1)).mean())


def conversion(sharing: Sharing) -> None:
    """A trained layer with averaged keys and values: the attention before and after, and how far apart they are."""
    t, scene, G = sharing.scene.t, sharing.scene, sharing.n_kv_heads
    if scene.choice.source.kind != "model" or sharing.own == 1:
        st.caption(t("share_kv.convert_model"))
        return
    if int(scene.trace.masked.isfinite().any(0).sum(-1).max()) <= 1:
        st.caption(t("share_kv.convert_nothing"))
        return
    far = distances(sharing)
    pairs, even = _scale(scene.trace)
    found = t("share_kv.convert_own", own=sharing.own)
    if sharing.own > G:
        found = t("share_kv.convert_found", G=G, own=sharing.own, far=f"{float(far[G].mean()):.2f}")
    st.markdown(found)
    st.caption(t("share_kv.convert_scale", pairs=f"{pairs:.2f}", even=f"{even:.2f}"))
    columns = st.columns(2)
    with columns[0]:
        per_g = torch.stack([one.mean() for one in far.values()])
        fig = bars(
            [f"G = {g}" for g in far], {t("share_kv.far"): per_g}, title=t("share_kv.groups"),
            value_title=t("share_kv.far"), top=1.0,
        )  # fmt: skip
        show(fig, key="far_g", alt=found)
    with columns[1]:
        heads = [str(i) for i in range(sharing.n_heads)]
        fig = bars(heads, {t("share_kv.far"): far[G]}, title=t("heads.head"), value_title=t("share_kv.far"), top=1.0)
        show(fig, key="far_head", alt=t("share_kv.far_head", G=G))
    head = state.whole("head", 1, 0, sharing.n_heads - 1)
    st.slider(t("share_kv.head"), 0, sharing.n_heads - 1, key="head", persist_state=KEEP)
    _before_after(sharing, head)


def _before_after(sharing: Sharing, head: int) -> None:
    t, scene = sharing.scene.t, sharing.scene
    n = min(len(scene.labels), limits.SHARED_TOKENS)
    titles = [t("share_kv.before", head=head, own=sharing.own), t("share_kv.after", head=head, G=sharing.n_kv_heads)]
    strip(scene, titles, torch.stack([scene.trace.weights[head], sharing.layer.weights[head]])[:, :n, :n], "converted")


def strip(scene: Scene, titles: list[str], maps: Tensor, key: str, labels: tuple[str, ...] | None = None) -> None:
    """A few maps of weights side by side."""
    n, text = maps.shape[-1], {"says": scene.t("share_kv.says_pair"), "axes": scene.t("share_kv.axes")}
    named = (labels or scene.labels)[:n]
    panels = [Panel(code=str(i), title=title, alt=title, labels=named) for i, title in enumerate(titles)]
    header: dict[str, Any] = {"words": text, "hues": HUES, "gutter": True}
    mount("maps", key=key, data=pack_maps(panels, maps, what="weights", limit=1.0, **header))
