"""What every section of the Cost page stands on: the sizes of the layers, which the visitor chooses."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st

from viz.core.cost.architectures import Sizes
from viz.frame import controls, state
from viz.frame.modes import figure_facts
from viz.frame.page import ALL
from viz.frame.scene import Scene
from viz.text import Translate

LONGEST, WIDEST = 10**12, 10**6
KERNELS = (1, 3, 5, 7, 9, 15, 31, 63, 127)
USUAL, USUAL_KERNEL = 512, 3
USUAL_HEADS, MOST_HEADS = 8, 1024
WIDTHS = {"n": 190, "d": 150, "k": 170, "h": 170}
"""Pixels of the controls: four stand in a row, two on a phone; n holds thirteen digits."""

FLOAT32_BYTES = 4


@dataclass(frozen=True, kw_only=True)
class CostContext:
    """The sizes that were chosen, and the text, whose words one section draws."""

    scene: Scene
    sizes: Sizes

    @property
    def t(self) -> Translate:
        """The texts in the visitor's language."""
        return self.scene.t


def divisors(d: int) -> list[int]:
    """How many heads a width can be cut into.

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
    t, n, d = scene.t, state.whole("cost_n", USUAL, 0, LONGEST), state.whole("cost_d", USUAL, 0, WIDEST)
    k, heads = state.pick("cost_k", USUAL_KERNEL, KERNELS), divisors(max(d, 1))
    h = state.pick("cost_h", _usual_heads(heads), heads)
    for name, value in (("n", n), ("d", d)):
        if value < 1:
            st.error(t("cost.too_small", name=name, value=value))
    figure_facts.note([f"n = {n}, d = {d}, k = {k}, h = {h}"])  # these pictures are of no model's numbers
    return CostContext(scene=scene, sizes=Sizes(n=max(n, 1), d=max(d, 1), k=k, h=h))


def _usual_heads(heads: Sequence[int]) -> int:
    return max(h for h in heads if h <= USUAL_HEADS)


def draw_sizes(context: CostContext, *, first: bool = False) -> None:
    """Draw the controls of the sizes in one row; where all sections stand below each other, only the ``first`` does."""
    if st.session_state["section"] == ALL and not first:
        return
    t, heads = context.t, divisors(context.sizes.d)
    with st.container(key="sizes", horizontal=True, gap="small", vertical_alignment="bottom"):
        _number(t, "n", LONGEST)
        _number(t, "d", WIDEST)
        controls.select_slider(t("cost.k"), "cost_k", USUAL_KERNEL, KERNELS, width=WIDTHS["k"], help=t("cost.k_help"))
        controls.select_slider(
            t("cost.h"), "cost_h", _usual_heads(heads), heads, width=WIDTHS["h"], help=t("cost.h_help")
        )


def _number(t: Translate, name: str, most: int) -> None:
    help_text = t(f"cost.{name}_help")
    controls.number_input(t(f"cost.{name}"), f"cost_{name}", USUAL, 0, most, width=WIDTHS[name], help=help_text)


def about(scene: Scene) -> None:
    """What the text and the source have to do with this page."""
    st.caption(scene.t("cost.about"))
