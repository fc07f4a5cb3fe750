"""A small layer with every number editable: words, heads, X and the matrices, or Q, K and V."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st
import torch

from pages.step_by_step.own_numbers.editor import are_words, edit, example_of_link
from pages.step_by_step.own_numbers.example import OwnExample, checks, presets
from pages.step_by_step.own_numbers.numbers import DIRECT, PROJECTED, Numbers, from_code, is_code, of_matrices, to_code
from pages.step_by_step.three_words import HasLanguage
from viz import limits
from viz.core.heads import concat_heads
from viz.frame.checks import Check
from viz.params import Flag, Text
from viz.params.memory import Remembered
from viz.text import Translate

DEFAULT_PRESET = "two_heads"
FORMULA = (
    r"Z_h = \operatorname{softmax}\Bigl(\frac{Q_h K_h^{\top}}{\sqrt{d_k}}\Bigr) V_h, \qquad "
    r"\operatorname{output} = [Z_0; \dots; Z_{H-1}]\, W_O = \sum_h Z_h W_O^{h}"
)
SIZES = {"n": limits.OWN_WORDS, "d": limits.OWN_WIDTH, "n_heads": limits.OWN_HEADS}
WAYS = ("x", "qkv")
"""Kinds of inputs: X and the matrices, or Q, K and V."""


NUMBERS = Text("own", lambda _: to_code(presets()[DEFAULT_PRESET]), allows=is_code)
"""The numbers of the layer."""
OWN_AT = Text("own_at")
OWN_WORDS = Text("own_words", allows=are_words)
CAUSAL = Flag("own_causal")


def draw(context: HasLanguage) -> list[Check]:
    """Draw sizes and presets, and below them every number from the inputs to the output."""
    t, example = context.t, example_of_link(context.t, NUMBERS, OWN_WORDS, CAUSAL)
    with st.container(key="own_chips", horizontal=True, gap="small", vertical_alignment="center"):
        _sizes(t, example.numbers)
        _presets(t, example.numbers)
        CAUSAL.toggle(t("step_by_step.hand_causal"))
    edit(t, example, NUMBERS, OWN_AT, example.numbers.shapes, names=OWN_WORDS)
    return checks(example)


# --- Sizes and presets -----------------------------------------------------------------------------------------------


_WAY: Remembered[str] = Remembered("_own_way")


def _size(name: str) -> Remembered[int]:
    """Return the control's value for a size."""
    return Remembered(f"_own_{name}")


def _sizes(t: Translate, numbers: Numbers) -> None:
    """Draw a chip with the sizes, which opens their controls."""
    label = t("step_by_step.own_numbers.sizes", n=numbers.n, d=numbers.d, H=numbers.n_heads)
    with st.popover(label, key="chip_own_sizes"):
        for name, most in SIZES.items():
            fits = [size for size in range(1, most + 1) if name != "n_heads" or numbers.d % size == 0]
            _size(name).set(getattr(numbers, name))
            st.segmented_control(
                t(f"step_by_step.own_numbers.size_{name}"), fits, key=_size(name).name, required=True, on_change=_resize
            )
        _WAY.set(WAYS[numbers.is_direct])
        st.segmented_control(
            t("step_by_step.own_numbers.way"),
            WAYS,
            key=_WAY.name,
            required=True,
            on_change=_change_way,
            format_func=lambda way: t(f"step_by_step.own_numbers.way_{way}"),
        )


def _resize() -> None:
    sizes: Mapping[str, int] = {name: _size(name).read() for name in SIZES}
    NUMBERS.set(to_code(from_code(NUMBERS.value).resized(**sizes)))


def _change_way() -> None:
    numbers = from_code(NUMBERS.value)
    if numbers.is_direct != (_WAY.read() == "qkv"):
        NUMBERS.set(to_code(other_way(numbers)))


def other_way(numbers: Numbers) -> Numbers:
    """Convert X and matrices to their Q, K and V, rounded; or Q, K, V to an X that is Q with identity matrices."""
    example, matrices = OwnExample(words=(), numbers=numbers), numbers.matrices
    if numbers.is_direct:
        same = torch.eye(numbers.d)
        converted: dict[str, Any] = dict(
            zip(PROJECTED, (matrices["q"], same, same, same, matrices["w_o"]), strict=True)
        )
    else:
        trace = example.trace
        converted = dict(zip(DIRECT, (*map(concat_heads, (trace.q, trace.k, trace.v)), matrices["w_o"]), strict=True))
    return of_matrices(converted, numbers.n_heads)


def _presets(t: Translate, numbers: Numbers) -> None:
    """Draw a chip that opens the presets."""
    with st.popover(t("step_by_step.own_numbers.presets"), key="chip_own_presets"):
        for name, preset in presets().items():
            st.button(
                t(f"step_by_step.own_numbers.preset_{name}"),
                key=f"own_preset_{name}",
                on_click=NUMBERS.set,
                args=(to_code(preset),),
                type="secondary" if preset == numbers else "tertiary",
            )
        blank = replace(numbers, hundredths=(0,) * len(numbers.hundredths))
        st.button(
            t("step_by_step.own_numbers.preset_zeros"),
            key="own_preset_zeros",
            on_click=NUMBERS.set,
            args=(to_code(blank),),
            type="secondary" if blank == numbers else "tertiary",
        )
