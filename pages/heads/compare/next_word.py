"""Next words of two texts read by a decoder, as paired bars."""

import streamlit as st
import torch

from pages.heads.compare import compute
from pages.heads.compare.second import Second
from viz.components.bars import BarChart
from viz.figures.palette import GREY, HEADS
from viz.frame.checks import Check, check
from viz.frame.compute import read
from viz.frame.format import part
from viz.frame.scene import Scene
from viz.frame.show import show_bars

PAIR = (GREY, HEADS[2])
"""Of the first and of the second, as in the picture above."""


def next_words(scene: Scene, second: Second) -> list[Check]:
    """The bars, a sentence, and the check; nothing where no decoder reads, or the two have other words."""
    t, sources = scene.t, (scene.choice.source, second.scene.choice.source)
    if second.by_words:
        return []
    words = compute.next_words(*sources)
    if words is None:
        return []
    names = [source.model for source in sources] if second.other_model else [t("compare.first"), t("compare.second")]
    best = [int(side.argmax()) for side in words.chances]
    sentence = t(
        "second.next",
        word=words.labels[best[0]],
        p=part(float(words.chances[0, best[0]])),
        word_b=words.labels[best[1]],
        p_b=part(float(words.chances[1, best[1]])),
    )
    series = dict(zip(names, words.chances, strict=True))
    chart = BarChart(words.labels, series, title=t("second.next_title"), value_title=t("second.chance"), hues=PAIR)
    show_bars(chart, key="compare_next", alt=sentence)
    st.text(sentence)
    # The probabilities of the model's own run, not of the vocabulary head on captured states.
    run = [torch.tensor(read(source).predictions[0].probabilities) for source in sources]
    return [check("second.check_next", (torch.stack(run) - words.most).abs().max(), 1e-5)]
