"""A trained vision model: where its heads look on a digit, each beside the window that comes closest to it."""

from typing import Any

import streamlit as st
import torch
from torch import Tensor

from pages.convolution import by_hand
from pages.convolution.context import ConvolutionContext
from pages.convolution.vision import compute
from pages.convolution.vision.choice import VisionChoice, choose_vision, grey
from viz import limits
from viz.components.bars import BarChart
from viz.components.head_grid import pack
from viz.components.kinds import Integer
from viz.components.view import View
from viz.core.analysis.window_fit import WindowFit
from viz.figures.palette import BLUE, GREY
from viz.frame.checks import Check, check
from viz.frame.format import number, part, share
from viz.frame.modes import say
from viz.frame.show import show_bars
from viz.params import Int
from viz.text import paragraph

HEADS = View("convolution/patch_heads", words="convolution.patches.", sends={"patch": Integer()}, colours=True)
MOST_NAMES = 10
MOST_CARDS = 36
"""Heads drawn at once; a larger model shows one layer."""

VISION_LAYER = Int("vision_layer", high=lambda n_layers: n_layers - 1)
PATCH = Int("patch", lambda grid: grid[0] // 2 * grid[1] + grid[1] // 2, high=lambda grid: grid[0] * grid[1] - 1)


def draw(context: ConvolutionContext) -> list[Check]:
    """The picture and every head from one patch, with its closest window; then what the model says it is."""
    picture = st.container()
    choice = choose_vision(context)
    agreement, fits = compute.agreement(choice.reader, choice.key), compute.fits(choice.reader, choice.key)
    layers = _layers(context, choice)
    with picture:
        _heads(context, choice, fits, layers)
    _answer(context, choice)
    _say_heads(context, choice, fits)
    return _checks(choice, agreement, fits, layers[0])


def _answer(context: ConvolutionContext, choice: VisionChoice) -> None:
    """Draw the probabilities of what the model can say."""
    t, (rows, columns) = context.t, choice.model.size
    if not choice.is_own:
        sizes = {"rows": rows, "columns": columns, "n": choice.model.n_patches}
        st.caption(t("convolution.vision.scaled", side=limits.PICTURE_SIDE, **sizes))
    logits = compute.capture_of(choice.reader, choice.key).logits
    if logits is None:
        st.info(t("convolution.vision.nameless"))
    else:
        _probabilities(context, choice, logits.softmax(-1))


def _probabilities(context: ConvolutionContext, choice: VisionChoice, probabilities: Tensor) -> None:
    t, names, best = context.t, choice.model.names, int(probabilities.argmax())
    order = probabilities.argsort(descending=True)[:MOST_NAMES]
    sentence = t("convolution.vision.answer", name=names[best], p=share(float(probabilities[best])))
    if choice.is_own:
        order = order.sort().values
        sentence = paragraph(t("convolution.vision.says"), sentence)
    chart = BarChart(
        [names[i] for i in order.tolist()],
        {t("convolution.vision.probability"): probabilities[order]},
        title=t("convolution.vision.class"),
        value_title=t("convolution.vision.probability"),
        top=1.0,
        colours=[BLUE if i == best else GREY for i in order.tolist()],
    )
    show_bars(chart, key="vision_answer", alt=sentence)
    # A folder may call its classes anything.
    st.text(sentence)


def _layers(context: ConvolutionContext, choice: VisionChoice) -> list[int]:
    """The layers drawn: all, or one of a large model."""
    L = len(choice.model.layers)
    if L * choice.model.n_heads <= MOST_CARDS:
        return list(range(L))
    return [VISION_LAYER.slider(context.t("choice.layer"), L, width=420)]


def _heads(context: ConvolutionContext, choice: VisionChoice, fits: tuple[WindowFit, ...], layers: list[int]) -> None:
    """The view: the picture in patches, and every head beside its window."""
    t, (rows, columns), H = context.t, choice.model.grid, choice.model.n_heads
    query = divmod(PATCH.read((rows, columns)), columns)
    place = query[0] * columns + query[1]
    head_rows = compute.rows(choice.reader, choice.key, place)[layers]
    windows = torch.stack([compute.windows(choice.reader, choice.key, layer, place) for layer in layers])
    cards = []
    for i, layer in enumerate(layers):
        for head in range(H):
            window_share, most = part(float(fits[layer].explained_share[head])), int(head_rows[i, head].argmax())
            down, right = (number(value, 2) for value in fits[layer].offset[head].tolist())
            alt = t(
                "convolution.vision.card" if fits[layer].alpha[head] > 0 else "convolution.vision.card_even",
                layer=layer, head=head, row=most // columns, column=most % columns,
                weight=part(float(head_rows[i, head, most])), share=window_share,
                down=down, right=right, alpha=number(float(fits[layer].alpha[head])),
            )  # fmt: skip
            cards.append({"layer": layer, "name": t("convolution.head", i=head), "share": window_share, "alt": alt})
    picture = grey(_as_read(choice))
    # Ink is dark.
    if choice.is_own:
        picture = 1 - picture
    header = {
        "rows": rows,
        "columns": columns,
        "size": list(picture.shape),
        "choice": {"query": list(query)},
        "heads": cards,
        "title": t("convolution.vision.picture"),
    }
    packed = pack(header, {"image": picture.flatten(), "seen": head_rows.flatten(), "windows": windows.flatten()})
    HEADS.mount(key="patch_heads", data=packed.data, on={"patch": PATCH.set})


def _as_read(choice: VisionChoice) -> Tensor:
    """The picture at the model's own size, 0 to 1."""
    model = choice.model
    mean, std = (torch.tensor(value).reshape(-1, 1, 1) for value in (model.mean, model.std))
    return model.pixels(choice.picture) * std + mean


def _say_heads(context: ConvolutionContext, choice: VisionChoice, fits: tuple[WindowFit, ...]) -> None:
    t = context.t
    window_shares = torch.stack([fit.explained_share for fit in fits])
    inside = torch.stack([inside_share(fit.offset, choice.model.grid) for fit in fits])
    # Else the centre lies outside the picture, and the window is its edge.
    windows = window_shares * (inside >= 0.5)
    layer, head = divmod(int(windows.argmax()), choice.model.n_heads)
    values: dict[str, Any] = {
        "n": window_shares.numel(),
        "many": int((windows > 0.5).sum()),
        "mean": part(float(window_shares.mean())),
        "layer": layer,
        "head": head,
        "share": part(float(window_shares[layer, head])),
    }
    say(t("convolution.vision.found", **values))
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
    error = float((weights.double() - window).square().sum())
    total = float((weights.double() - 1 / len(weights)).square().sum())
    return 1 - error / total if total > 0 else 0.0


def _checks(choice: VisionChoice, agreement: compute.Agreement, fits: tuple[WindowFit, ...], layer: int) -> list[Check]:
    """Against transformers' own pass; and the best head of a layer, from the model's own weights."""
    checks = [check("convolution.vision.check_weights", agreement.weights, 1e-5, n=len(fits))]
    capture = compute.capture_of(choice.reader, choice.key)
    if capture.logits is not None:
        apart = (capture.logits.softmax(-1) - agreement.probabilities).abs().max()
        checks.append(check("convolution.vision.check_answer", apart, 1e-5))
    fit, n = fits[layer], capture.n_other
    head = int(fit.explained_share.argmax())
    among = capture.layer(layer).weights[head, n:, n:]
    by_pairs = share_on_plane(among / among.sum(-1, keepdim=True), fit.offset[head], fit.alpha[head], capture.grid)
    off = abs(by_pairs - float(fit.explained_share[head]))
    return [*checks, check("convolution.vision.check_share", off, 1e-3, layer=layer, head=head)]
