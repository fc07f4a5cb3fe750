"""One head's weights between two lists of tokens."""

import streamlit as st

from pages.block.context import BlockContext
from viz.components.maps import show_maps
from viz.core.heads import MultiHeadTrace


def attention_map(
    context: BlockContext,
    steps: MultiHeadTrace,
    queries: tuple[str, ...],
    keys: tuple[str, ...],
    *,
    key: str,
    title: str = "",
    axes: str = "",
) -> None:
    """Draw the weights of the chosen head, with its row and column titles."""
    t, (rows, columns) = context.t, (len(queries), len(keys))
    head = min(context.head, steps.projections.spec.H - 1)
    weights, titles = steps.weights[head], [title or t("block.weights_title", head=head)]
    alt = t("block.weights_alt", head=head, rows=rows, columns=columns)
    show_maps(t, titles, weights[None], queries, columns=keys, key=key, axes=axes, alt=alt)
    if n_fully_masked := int((weights.amax(-1) == 0).sum()):
        st.caption(t("block.weights_blind", n=n_fully_masked))
