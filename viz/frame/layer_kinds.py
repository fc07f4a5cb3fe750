"""Sentences on layers without attention, and on sinks, gates and short vectors of a layer."""

from collections.abc import Sequence
from itertools import chain

import streamlit as st

from viz.models.capture import Call
from viz.models.layers.latent import Latent
from viz.models.layout import LoadedModel
from viz.text import Translate, paragraph

LAYER_KINDS = ("linear_attention", "conv", "recurrent", "moe", "mlp")
"""Kinds of layers that do not attend, as configurations call them, which have a sentence of their own."""


def say_layer_kinds(t: Translate, model: LoadedModel, call: Call) -> None:
    """Name the layers that do not attend, and say what a sink, a gate, short vectors or a norm of values do.

    Layers of the files that the configuration leaves out are counted.
    """
    if model.n_unread_layers:
        st.caption(t("note.layers_unread", n=model.n_unread_layers))
    for kind, layers in model.other_layers.items():
        key = f"note.layers_{kind}" if kind in LAYER_KINDS else "note.layers_other"
        st.caption(t(key, layers=ranges(layers), n=len(layers)))
    if call.options.get("sink") is not None:
        st.caption(t("note.sink"))
    if call.gate is not None:
        st.caption(t("note.gate"))
    if call.source is not None:
        st.caption(t("note.values_of", layer=call.source))
    if call.value_eps is not None:
        st.caption(t("note.values_normed"))
    if (latent := call.latent) is not None:
        st.caption(paragraph(t("note.latent", c=latent.c), _latent_queries(t, latent), _shared_part(t, latent, call)))


def _latent_queries(t: Translate, latent: Latent) -> str:
    return "" if latent.c_q is None else t("note.latent_q", c_q=latent.c_q)


def _shared_part(t: Translate, latent: Latent, call: Call) -> str:
    return t("note.latent_turned" if call.rotary else "note.latent_joined", r=latent.r) if latent.r else ""


def ranges(numbers: Sequence[int]) -> str:
    """Write numbers in order, runs of them as ranges.

    Example:
        >>> ranges((0, 1, 2, 4, 6, 7))
        '0-2, 4, 6, 7'
    """
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    parts = ([f"{run[0]}-{run[-1]}"] if len(run) > 2 else [str(number) for number in run] for run in runs)
    return ", ".join(chain.from_iterable(parts))
