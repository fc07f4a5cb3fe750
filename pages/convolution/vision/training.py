"""Effect of training on the vision model's heads: the share explained by a window, before and after."""

import streamlit as st
import torch

from pages.convolution.context import ConvolutionContext
from pages.convolution.vision import compute
from pages.convolution.vision.choice import VisionChoice, choose_vision
from pages.convolution.vision.compute import Reader
from pages.convolution.vision.heads import share_on_plane
from viz.components.bars import BarChart
from viz.core.analysis.map_statistics import entropy
from viz.frame.checks import Check, check
from viz.frame.format import number, part, share, span
from viz.frame.modes import say
from viz.frame.show import show_bars
from viz.models.trained import digits

DIGITS_PER_NAME = 2
"""Held-out digits of each name that the heads are measured on."""


def draw(context: ConvolutionContext) -> list[Check]:
    """A bar for each head before and after training; and how the training went, if it was this project's."""
    picture = st.container()
    choice = choose_vision(context)
    before = Reader(model=choice.reader.model, trained=False)
    with picture:
        _shares(context, choice, before)
    checks = _checks(choice, before)
    if choice.is_own:
        checks += _how_it_went(context, choice, before)
    return checks


def _shares(context: ConvolutionContext, choice: VisionChoice, before: Reader) -> None:
    t = context.t
    then, now = (
        torch.stack([fit.explained_share for fit in compute.fits(reader, choice.key)])
        for reader in (before, choice.reader)
    )
    L, H = now.shape
    sentence = t(
        "convolution.vision_training.found",
        n=L * H, then=part(float(then.mean())), now=part(float(now.mean())),
        most_then=part(float(then.max())), most_now=part(float(now.max())),
    )  # fmt: skip
    names = [f"{layer} · {head}" for layer in range(L) for head in range(H)]
    series = {
        t("convolution.vision_training.before"): then.flatten(),
        t("convolution.vision_training.after"): now.flatten(),
    }
    chart = BarChart(
        names, series, title=t("convolution.vision_training.heads"), value_title=t("convolution.n_share"), top=1.0
    )
    show_bars(chart, key="vision_shares", alt=sentence)
    say(sentence)
    even = [_spread(reader, choice) for reader in (before, choice.reader)]
    say(t("convolution.vision_training.spread", then=share(even[0]), now=share(even[1])))
    if choice.is_own:
        many = compute.every_digit(choice.reader, DIGITS_PER_NAME).flatten(1)
        low, high = float(many.mean(1).min()), float(many.mean(1).max())
        say(t("convolution.vision_training.many", n=len(many), span=span(part(low), part(high))))
    else:
        say(t("convolution.vision_training.other_start"))


def _spread(reader: Reader, choice: VisionChoice) -> float:
    """The mean entropy of a row over the patches, as a share of its maximum."""
    capture = compute.capture_of(reader, choice.key)
    means = [entropy(capture.among_patches(i).weights).mean() for i in range(len(capture.calls))]
    return float(torch.stack(means).mean() / torch.tensor(float(choice.model.n_patches)).log())


def _how_it_went(context: ConvolutionContext, choice: VisionChoice, before: Reader) -> list[Check]:
    """The record of the training, and the held-out digits counted now."""
    t, run = context.t, digits.run()
    n, now, then = len(digits.held_out().names), compute.right(choice.reader), compute.right(before)
    sentence = t(
        "convolution.vision_training.went",
        epochs=len(run.accuracy), seconds=number(run.seconds, 3), parameters=f"{run.parameters:,}",
        then=then, now=now, n=n, share=share(now / n), seed=digits.Recipe().seed,
    )  # fmt: skip
    say(sentence)
    return [check("convolution.vision_training.check_accuracy", abs(now / n - run.accuracy[-1]), 0.5 / n, n=n)]


def _checks(choice: VisionChoice, before: Reader) -> list[Check]:
    """Both models against transformers' own passes; a share of the untrained one, written out."""
    then, now = (compute.agreement(reader, choice.key) for reader in (before, choice.reader))
    capture, fit = compute.capture_of(before, choice.key), compute.fits(before, choice.key)[0]
    among = capture.layer(0).weights[0, capture.n_other :, capture.n_other :]
    by_pairs = share_on_plane(among / among.sum(-1, keepdim=True), fit.offset[0], fit.alpha[0], choice.model.grid)
    off = abs(by_pairs - float(fit.explained_share[0]))
    return [
        check("convolution.vision_training.check_weights", max(then.weights, now.weights), 1e-5),
        check("convolution.vision_training.check_share", off, 1e-3),
    ]
