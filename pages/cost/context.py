"""Context of the Cost page's sections: the sizes of the layers, set by the user."""

from dataclasses import dataclass

import streamlit as st

from viz.core.cost.architectures import Sizes
from viz.frame.modes import figure_facts
from viz.frame.scene import Scene, SceneContext
from viz.params import Int

DEFAULT_HEADS, MOST_HEADS = 8, 1024
COST_N = Int("cost_n", 512, high=10**12)
COST_D = Int("cost_d", 512, high=10**6)
COST_K = Int("cost_k", 3, among=(1, 3, 5, 7, 9, 15, 31, 63, 127))
COST_H = Int("cost_h", lambda heads: max(h for h in heads if h <= DEFAULT_HEADS), among=lambda heads: heads)
WIDTHS = {"n": 190, "d": 150, "k": 170, "h": 170}
"""Pixels of the controls: four stand in a row, two on a phone; n holds thirteen digits."""

FLOAT32_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class CostContext(SceneContext):
    """The sizes that were chosen, and the text, whose words one section draws."""

    sizes: Sizes


def divisors(d: int) -> list[int]:
    """The numbers of heads that divide a width.

    Example:
        >>> divisors(12)
        [1, 2, 3, 4, 6, 12]
    """
    return [h for h in range(1, min(d, MOST_HEADS) + 1) if d % h == 0]


def powers_of_two(*sizes: int) -> list[int]:
    """Lengths at which a curve is computed: powers of two that reach beyond these sizes, about two dozen at most.

    Example:
        >>> powers_of_two(100)
        [1, 2, 4, 8, 16, 32, 64, 128, 256]
    """
    last = max(*sizes, 64).bit_length() + 1
    step = -(-last // 24)
    return [2**power for power in range(0, last + step, step)]


def open_cost(scene: Scene) -> CostContext:
    """Take over the sizes, which every section draws; one that cannot be is a sentence, and 1 is taken instead."""
    t, n, d, k = scene.t, COST_N.read(), COST_D.read(), COST_K.read()
    h = COST_H.read(divisors(max(d, 1)))
    for name, value in (("n", n), ("d", d)):
        if value < 1:
            st.error(t("cost.too_small", name=name, value=value))
    figure_facts.note([f"n = {n}, d = {d}, k = {k}, h = {h}"])  # these pictures are of no model's numbers
    return CostContext(scene=scene, sizes=Sizes(n=max(n, 1), d=max(d, 1), k=k, h=h))


def draw_sizes(context: CostContext, *, kernel: bool = True) -> None:
    """Draw the controls of the sizes in one row, without that of the ``kernel`` where nothing depends on k."""
    if not context.draws_first("sizes"):
        return
    t, heads = context.t, divisors(context.sizes.d)
    with st.container(key="sizes", horizontal=True, gap="small", vertical_alignment="bottom"):
        COST_N.number_input(t("cost.n"), width=WIDTHS["n"], help=t("cost.n_help"))
        COST_D.number_input(t("cost.d"), width=WIDTHS["d"], help=t("cost.d_help"))
        if kernel:
            COST_K.select_slider(t("cost.k"), width=WIDTHS["k"], help=t("cost.k_help"))
        COST_H.select_slider(t("cost.h"), heads, width=WIDTHS["h"], help=t("cost.h_help"))


def about(scene: Scene) -> None:
    """Show the role of text and source on this page."""
    st.caption(scene.t("cost.about"))
