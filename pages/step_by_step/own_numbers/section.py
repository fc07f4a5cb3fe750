"""Every number of a small layer, to be changed: words, heads, X and the matrices, or Q, K and V themselves."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import streamlit as st
import torch

from pages.step_by_step.own_numbers.editor import edit
from pages.step_by_step.own_numbers.example import OwnExample, checks, presets
from pages.step_by_step.own_numbers.numbers import DIRECT, PROJECTED, Numbers, from_code, is_code, of_matrices, to_code
from pages.step_by_step.three_words import Speaks
from viz import limits
from viz.core.heads import concat_heads
from viz.frame.checks import Check
from viz.params import Flag, Text
from viz.params.memory import Remembered
from viz.text import Translate

USUAL = "two_heads"
FORMULA = (
    r"Z_h = \operatorname{softmax}\Bigl(\frac{Q_h K_h^{\top}}{\sqrt{d_k}}\Bigr) V_h, \qquad "
    r"\operatorname{output} = [Z_0; \dots; Z_{H-1}]\, W_O = \sum_h Z_h W_O^{h}"
)
SIZES = {"n": limits.OWN_WORDS, "d": limits.OWN_WIDTH, "n_heads": limits.OWN_HEADS}
WAYS = ("x", "qkv")
"""What is given: X and the matrices, or Q, K and V."""


def are_words(code: str) -> bool:
    """Whether a link's words are not too many, and none of them too long."""
    words = code.split("|", limits.OWN_WORDS)
    return len(words) <= limits.OWN_WORDS and all(
        len(word) <= limits.HAND_CHARACTERS and word == word.strip() for word in words
    )


OWN = Text("own", lambda _: to_code(presets()[USUAL]), allows=is_code)
"""The numbers."""
OWN_AT = Text("own_at")
OWN_WORDS = Text("own_words", allows=are_words)
CAUSAL = Flag("own_causal")


def draw(context: Speaks) -> list[Check]:
    """Sizes and presets, and below them every number, from what is given to what leaves the layer."""
    t, example = context.t, _example(context.t)
    with st.container(key="own_chips", horizontal=True, gap="small", vertical_alignment="center"):
        _sizes(t, example.numbers)
        _presets(t, example.numbers)
        CAUSAL.toggle(t("step_by_step.own_numbers.causal"))
    edit(t, example, OWN, OWN_AT, example.numbers.shapes, names=OWN_WORDS)
    return checks(example)


def _example(t: Translate) -> OwnExample:
    """What the link asks for, or what stands there at first."""
    numbers, names = from_code(OWN.read()), OWN_WORDS.read().split("|")
    usual = t("step_by_step.own_numbers.words").split("|")
    words = [name or usual[place] for place, name in enumerate(names + [""] * (limits.OWN_WORDS - len(names)))]
    return OwnExample(words=tuple(words[: numbers.n]), numbers=numbers, is_causal=CAUSAL.read())


# --- What can be chosen ----------------------------------------------------------------------------------------------


_WAY: Remembered[str] = Remembered("_own_way")


def _size(name: str) -> Remembered[int]:
    """Return the value of the control of a size."""
    return Remembered(f"_own_{name}")


def _sizes(t: Translate, numbers: Numbers) -> None:
    """A chip that names the sizes, and opens what changes them."""
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
    OWN.set(to_code(from_code(OWN.value).resized(**sizes)))


def _change_way() -> None:
    numbers = from_code(OWN.value)
    if numbers.is_direct != (_WAY.read() == "qkv"):
        OWN.set(to_code(other_way(numbers)))


def other_way(numbers: Numbers) -> Numbers:
    """From X and matrices to the Q, K and V they make, rounded; or from Q, K, V to an X that is Q, every matrix I."""
    example, given = OwnExample(words=(), numbers=numbers), numbers.matrices
    if numbers.is_direct:
        same = torch.eye(numbers.d)
        made: dict[str, Any] = dict(zip(PROJECTED, (given["q"], same, same, same, given["w_o"]), strict=True))
    else:
        trace = example.trace
        made = dict(zip(DIRECT, (*map(concat_heads, (trace.q, trace.k, trace.v)), given["w_o"]), strict=True))
    return of_matrices(made, numbers.n_heads)


def _presets(t: Translate, numbers: Numbers) -> None:
    """A chip that opens what one can begin with."""
    with st.popover(t("step_by_step.own_numbers.presets"), key="chip_own_presets"):
        for name, preset in presets().items():
            st.button(
                t(f"step_by_step.own_numbers.preset_{name}"),
                key=f"own_preset_{name}",
                on_click=OWN.set,
                args=(to_code(preset),),
                type="secondary" if preset == numbers else "tertiary",
            )
        blank = replace(numbers, hundredths=(0,) * len(numbers.hundredths))
        st.button(
            t("step_by_step.own_numbers.preset_zeros"),
            key="own_preset_zeros",
            on_click=OWN.set,
            args=(to_code(blank),),
            type="secondary" if blank == numbers else "tertiary",
        )
