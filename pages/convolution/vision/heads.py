"""A trained vision model: where its heads look on a digit, each beside the window that comes closest to it."""

from collections.abc import Mapping
from functools import cache
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.convolution import by_hand
from pages.convolution.context import ConvolutionContext
from pages.convolution.live_view import HUES
from pages.convolution.vision import compute
from pages.convolution.vision.choice import DRAW, VisionChoice, choose_vision, grey
from pages.convolution.vision.ink import read_ink
from viz import limits
from viz.components.bars import BarChart
from viz.components.head_grid import pack
from viz.components.mount import count_choices, mount
from viz.core.analysis.window_fit import WindowFit
from viz.figures.palette import BLUE, GREY
from viz.frame import controls, state
from viz.frame.checks import Check, check
from viz.frame.format import number, part, share
from viz.frame.modes import say
from viz.frame.show import show_bars
from viz.text import paragraph, sentences

PAD, HEADS = "digit_pad", "patch_heads"
MOST_NAMES = 10
MOST_CARDS = 36
"""Heads drawn at once; a larger model shows one layer."""


def draw(context: ConvolutionContext) -> list[Check]:
    """The picture and what the model says it is; then every head from one patch, with its closest window."""
    picture = st.container()
    choice = choose_vision(context, first=True)
    found = compute.agreement(choice.reader, choice.key)
    with picture:
        _answer(context, choice)
    fits = compute.fits(choice.reader, choice.key)
    layers = _layers(context, choice)
    _heads(context, choice, fits, layers)
    _say_heads(context, choice, fits)
    return _checks(choice, found, fits, layers[0])


def _answer(context: ConvolutionContext, choice: VisionChoice) -> None:
    """The pad with the digit, beside the probabilities of what it is."""
    t, (rows, columns) = context.t, choice.model.size
    if choice.ink is not None:
        left, right = st.columns([1, 2], gap="large")
        with left:
            _pad(context, choice.ink)
    else:
        right, sizes = st.container(), {"rows": rows, "columns": columns, "n": choice.model.n_patches}
        st.caption(t("convolution.vision.scaled", side=limits.PICTURE_SIDE, **sizes))
    logits = compute.seen(choice.reader, choice.key).logits
    if logits is None:
        st.info(t("convolution.vision.nameless"))
    else:
        with right:
            _probabilities(context, choice, logits.softmax(-1))


def _probabilities(context: ConvolutionContext, choice: VisionChoice, probabilities: Tensor) -> None:
    t, names, best = context.t, choice.model.names, int(probabilities.argmax())
    order = probabilities.argsort(descending=True)[:MOST_NAMES]
    sentence = t("convolution.vision.answer", name=names[best], p=share(float(probabilities[best])))
    if choice.ink is not None:
        order = order.sort().values
        known = t("convolution.vision.says") if choice.ink.strip("0") else t("convolution.vision.blank")
        sentence = paragraph(known, sentence)
    drawn = BarChart(
        [names[i] for i in order.tolist()],
        {t("convolution.vision.probability"): probabilities[order]},
        title=t("convolution.vision.class"),
        value_title=t("convolution.vision.probability"),
        top=1.0,
        colours=[BLUE if i == best else GREY for i in order.tolist()],
    )
    show_bars(drawn, key="vision_answer", alt=sentence)
    st.text(sentence)  # a folder may call its classes anything


def _pad(context: ConvolutionContext, code: str) -> None:
    names = _names_below(context.scene.choice.lang, "pad")
    words = {name: context.t(f"convolution.pad.{name}") for name in names}
    data = {"code": code, "sent": count_choices(PAD), "hue": BLUE, "words": words}
    mount("convolution/digit_pad", key=PAD, data=data, on_choice_change=_take_ink)


@cache
def _names_below(lang: str, view: str) -> tuple[str, ...]:
    """The names of a view's own words, which are filled in by the browser."""
    start = f"convolution.{view}."
    return tuple(name.removeprefix(start) for name in sentences(lang) if name.startswith(start))


def _take_ink() -> None:
    """Take over what was drawn in the browser: from then on it is the visitor's own digit."""
    code = read_ink(st.session_state[PAD].get("choice"))
    if code is not None:
        state.put("digit", DRAW)
        state.choose("ink", code)


def _layers(context: ConvolutionContext, choice: VisionChoice) -> list[int]:
    """Which layers are drawn: all, or of a large model one."""
    L = len(choice.model.layers)
    if L * choice.model.n_heads <= MOST_CARDS:
        return list(range(L))
    return [controls.slider(context.t("choice.layer"), "vision_layer", 0, 0, L - 1, width=420)]


def _heads(context: ConvolutionContext, choice: VisionChoice, fits: tuple[WindowFit, ...], layers: list[int]) -> None:
    """The view: the picture in patches, and every head beside its window."""
    t, (rows, columns), H = context.t, choice.model.grid, choice.model.n_heads
    query = divmod(state.whole("patch", rows // 2 * columns + columns // 2, 0, rows * columns - 1), columns)
    place = query[0] * columns + query[1]
    seen = compute.rows(choice.reader, choice.key, place)[layers]
    windows = torch.stack([compute.windows(choice.reader, choice.key, layer, place) for layer in layers])
    cards = []
    for i, layer in enumerate(layers):
        for head in range(H):
            explained, most = part(float(fits[layer].explained[head])), int(seen[i, head].argmax())
            down, right = (number(value, 2) for value in fits[layer].offset[head].tolist())
            alt = t(
                "convolution.vision.card",
                layer=layer, head=head, row=most // columns, column=most % columns,
                weight=part(float(seen[i, head, most])), share=explained,
                down=down, right=right, alpha=number(float(fits[layer].alpha[head])),
            )  # fmt: skip
            cards.append({"layer": layer, "name": t("convolution.head", i=head), "share": explained, "alt": alt})
    picture = grey(_as_read(choice))
    if choice.ink is not None:  # ink is dark
        picture = 1 - picture
    names = _names_below(context.scene.choice.lang, "patches")
    header = {
        "rows": rows,
        "columns": columns,
        "size": list(picture.shape),
        "choice": {"query": list(query)},
        "heads": cards,
        "title": t("convolution.vision.picture"),
        "sent": count_choices(HEADS),
        "hues": HUES,
        "words": {name: t(f"convolution.patches.{name}") for name in names},
    }
    packed = pack(header, {"image": picture.flatten(), "seen": seen.flatten(), "windows": windows.flatten()})
    mount("convolution/patch_heads", key=HEADS, data=packed.data, on_choice_change=_take_patch)


def _as_read(choice: VisionChoice) -> Tensor:
    """The picture at the model's own size, 0 to 1."""
    model = choice.model
    mean, std = (torch.tensor(value).reshape(-1, 1, 1) for value in (model.mean, model.std))
    return model.pixels(choice.picture) * std + mean


def _take_patch() -> None:
    """Take over which patch was clicked; a patch that does not exist becomes one that does."""
    sent = st.session_state[HEADS].get("choice")
    patch = sent.get("patch") if isinstance(sent, Mapping) else None
    if type(patch) is int and patch >= 0:
        state.put("patch", patch)


def _say_heads(context: ConvolutionContext, choice: VisionChoice, fits: tuple[WindowFit, ...]) -> None:
    t = context.t
    explained = torch.stack([fit.explained for fit in fits])
    inside = torch.stack([inside_share(fit.offset, choice.model.grid) for fit in fits])
    windows = explained * (inside >= 0.5)  # else the centre lies outside the picture, and the window is its edge
    layer, head = divmod(int(windows.argmax()), choice.model.n_heads)
    found: dict[str, Any] = {
        "n": explained.numel(),
        "many": int((windows > 0.5).sum()),
        "mean": part(float(explained.mean())),
        "layer": layer,
        "head": head,
        "share": part(float(explained[layer, head])),
    }
    say(t("convolution.vision.found", **found))
    st.caption(t("convolution.vision.note"))


def inside_share(offset: Tensor, grid: tuple[int, int]) -> Tensor:
    """The share of the patches from which each window's centre lies on the picture, (H).

    Example:
        >>> inside_share(torch.tensor([[0.0, 0.0], [-2.0, 4.0]]), (8, 8)).tolist()
        [1.0, 0.375]
    """
    return (1 - offset.abs() / torch.tensor(grid)).clamp(min=0).prod(-1)


def share_on_plane(weights: Tensor, offset: Tensor, alpha: Tensor, grid: tuple[int, int]) -> float:
    """1 - squared error of the window / squared distance from an even spread, written out patch by patch."""
    window = by_hand.softmax(by_hand.window_scores(offset[None], alpha[None], grid)[0])
    missed = float((weights.double() - window).square().sum())
    whole = float((weights.double() - 1 / len(weights)).square().sum())
    return 1 - missed / whole if whole > 0 else 0.0


def _checks(choice: VisionChoice, found: compute.Agreement, fits: tuple[WindowFit, ...], layer: int) -> list[Check]:
    """Against transformers' own pass; and the best head of a layer, from the model's own weights."""
    checks = [check("convolution.vision.check_weights", found.weights, 1e-5, n=len(fits))]
    looked = compute.seen(choice.reader, choice.key)
    if looked.logits is not None:
        apart = (looked.logits.softmax(-1) - found.probabilities).abs().max()
        checks.append(check("convolution.vision.check_answer", apart, 1e-5))
    fit, n = fits[layer], looked.n_other
    head = int(fit.explained.argmax())
    among = looked.layer(layer).weights[head, n:, n:]
    by_pairs = share_on_plane(among / among.sum(-1, keepdim=True), fit.offset[head], fit.alpha[head], looked.grid)
    off = abs(by_pairs - float(fit.explained[head]))
    return [*checks, check("convolution.vision.check_share", off, 1e-3, layer=layer, head=head)]
