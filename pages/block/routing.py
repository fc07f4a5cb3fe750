"""The routing of a block with experts: which of them a word goes through, and with which weights."""

import streamlit as st

from pages.block.context import BlockContext
from pages.block.side import Side
from viz.core.experts import ExpertsTrace, ExpertsWeights
from viz.frame.format import number, share
from viz.frame.shared import QUERY, Places
from viz.text import isolate, join_names, paragraph
from viz.text.naming import list_token


def draw_routing(context: BlockContext, side: Side) -> None:
    """Draw the choice of a word, and the sentence about its experts."""
    t, trace, weights = context.t, side.trace.feed_forward, side.trace.weights.feed_forward
    assert isinstance(trace, ExpertsTrace) and isinstance(weights, ExpertsWeights)
    labels = side.labels
    places = Places(labels, len(labels) - 1, range(len(labels)))
    words = [list_token(i, label) for i, label in enumerate(labels)]
    QUERY.selectbox(t("block.routed_word"), places, says=words.__getitem__, width=260)
    word = QUERY.read(places)
    numbers, shares = trace.routing.numbers[word].tolist(), trace.routing.weights[word].tolist()
    experts = [
        t("block.one_expert", number=expert, weight=number(weight))
        for expert, weight in zip(numbers, shares, strict=True)
    ]
    sentences = [
        t(
            "block.routed",
            word=isolate(labels[word]),
            k=len(numbers),
            n=len(weights.experts),
            listed=join_names(t, experts),
        )
    ]
    if trace.shared is not None:
        weight = 1.0 if trace.shared_weight is None else float(trace.shared_weight[word])
        sentences.append(t("block.routed_shared", weight=number(weight)))
    st.text(paragraph(*sentences))


def caption_routing(context: BlockContext, side: Side) -> None:
    """Say how the words of the text spread over the experts."""
    t, trace = context.t, side.trace.feed_forward
    assert isinstance(trace, ExpertsTrace)
    n_words = trace.routing.numbers.flatten().bincount(minlength=trace.routing.scores.shape[-1])
    values = {"used": int((n_words > 0).sum()), "n": len(n_words), "words": int(n_words.max())}
    st.caption(t("block.router_says", **values))


def caption_parameters(context: BlockContext, side: Side) -> None:
    """Say how many of the block's parameters are in its experts, and how many of them a token meets."""
    block = side.trace.weights
    assert isinstance(block.feed_forward, ExpertsWeights)
    n_all, n_inside = block.n_parameters(), block.feed_forward.n_parameters()
    n_active = sum(tensor.numel() for tensor in block.feed_forward.active_tensors)
    sizes = {"share": share(n_inside / n_all), "active": share(n_active / n_inside)}
    st.caption(context.t("block.experts_say", n=f"{n_all:,}", **sizes))
