"""What two texts go on with, where a decoder reads them: the likeliest next words of both as paired bars."""

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
    found = compute.next_words(*sources)
    if found is None:
        return []
    names = [source.model for source in sources] if second.other_model else [t("compare.first"), t("compare.second")]
    best = [int(side.argmax()) for side in found.chances]
    sentence = t(
        "second.next",
        word=found.labels[best[0]],
        p=part(float(found.chances[0, best[0]])),
        word_b=found.labels[best[1]],
        p_b=part(float(found.chances[1, best[1]])),
    )
    series = dict(zip(names, found.chances, strict=True))
    drawn = BarChart(found.labels, series, title=t("second.next_title"), value_title=t("second.chance"), hues=PAIR)
    show_bars(drawn, key="compare_next", alt=sentence)
    st.text(sentence)
    # The chances of the model's own run, and not the vocabulary head on what it handed on.
    run = [torch.tensor(read(source).predictions[0].probabilities) for source in sources]
    return [check("second.check_next", (torch.stack(run) - found.most).abs().max(), 1e-5)]
