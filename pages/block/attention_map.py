"""One head's weights between two lists of tokens."""

import streamlit as st

from pages.block.context import BlockContext
from viz.components.maps import Panel, pack_maps
from viz.core.heads import MultiHeadTrace
from viz.frame.show import MAPS


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
    weights = steps.weights[head]
    panel = Panel(
        code="weights",
        title=title or t("block.weights_title", head=head),
        alt=t("block.weights_alt", head=head, rows=rows, columns=columns),
        labels=queries,
        columns=keys,
    )
    words = {"says": t("map.says"), "axes": axes}
    packed = pack_maps([panel], weights[None], what="weights", limit=1.0, gutter=True)
    MAPS.mount(key=key, data=packed, words=words)
    if n_fully_masked := int((weights.amax(-1) == 0).sum()):
        st.caption(t("block.weights_blind", n=n_fully_masked))
