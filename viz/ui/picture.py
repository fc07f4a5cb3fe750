"""Two dimensions of the Convolution page: a head for each cell of a kernel, on a picture."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from viz.core.relative import QuadraticHeads, heads_from_kernel, kernel_offsets
from viz.models.images import PICTURES, ImageError, decode, for_channels, kernels, picture
from viz.text import Translate
from viz.ui import limits, state
from viz.ui.controls import KEEP
from viz.ui.convolution import HIGHEST, HUES, VIEW, Bench, read_choice, reals, sent_before, view_words
from viz.views.head_grid import pack
from viz.views.mount import mount

PLANE = "plane"
REACH = 4.0
KERNELS = ("identity", "shift", "blur", "sharpen", "sobel", "emboss", "blur5", "random", "own")
SIZES = (3, 5)
RANDOM_FILTERS = 4


@dataclass(frozen=True, kw_only=True)
class Setting:
    """A picture (channels, rows, columns), a kernel for all its channels, and the visitor's heads for it."""

    image: Tensor
    filters: Tensor
    heads: QuadraticHeads

    @property
    def kernel(self) -> Tensor:
        """(out, in, k, k): every filter on every channel."""
        return for_channels(self.filters, len(self.image))


def choose_picture(t: Translate) -> Tensor:
    """One of the project's pictures, or the visitor's own."""
    name = state.choice("picture", "scene", (*PICTURES, "upload"))
    st.segmented_control(
        t("convolution.picture"), (*PICTURES, "upload"), key="picture", required=True, persist_state=KEEP,
        format_func=lambda code: t(f"convolution.picture_{code}"),
    )  # fmt: skip
    if name != "upload":
        return picture(name)
    given = st.file_uploader(
        t("convolution.upload"), type=["png", "jpg", "jpeg"], key="_upload", help=t("convolution.upload_help"),
        max_upload_size=limits.PICTURE_BYTES // 10**6,
    )  # fmt: skip
    if given is not None:
        try:
            return decode(
                given.getvalue(), side=limits.PICTURE_SIDE, most_bytes=limits.PICTURE_BYTES,
                most_pixels=limits.PICTURE_PIXELS,
            )  # fmt: skip
        except ImageError as error:
            st.error(t(f"convolution.upload_{error.code}", **error.values))
    st.caption(t("convolution.upload_none"))
    return picture("digit")


def choose_filters(t: Translate) -> Tensor:
    """A kernel by name, drawn from the seed, or typed."""
    name = state.choice("kernel", "blur", KERNELS)
    st.segmented_control(
        t("convolution.kernel"), KERNELS, key="kernel", required=True, persist_state=KEEP,
        format_func=lambda code: t(f"convolution.kernel_{code}"),
    )  # fmt: skip
    if name not in ("random", "own"):
        return kernels()[name]
    columns = st.columns([1, 1, 2], vertical_alignment="bottom")
    k = state.pick("k", 3, SIZES)
    columns[0].segmented_control(
        "k", SIZES, key="k", required=True, persist_state=KEEP, format_func=lambda k: f"{k} x {k}"
    )
    if name == "random":
        seed = state.whole("kernel_seed", 0, 0, 999)
        n = state.whole("n_filters", 2, 1, RANDOM_FILTERS)
        columns[1].number_input(t("sidebar.seed"), 0, 999, key="kernel_seed", persist_state=KEEP)
        columns[2].slider(t("convolution.n_filters"), 1, RANDOM_FILTERS, key="n_filters", persist_state=KEEP)
        return torch.randn(n, k, k, generator=torch.Generator().manual_seed(seed)) / k
    return _own_filter(k)


def _own_filter(k: int) -> Tensor:
    made = torch.zeros(k, k)
    for row in range(k):
        for column, place in enumerate(st.columns(k)):
            name = f"w{k}{row}{column}"
            made[row, column] = state.real(name, float(row == column == k // 2), -9.0, 9.0)
            place.number_input(f"{row - k // 2}, {column - k // 2}", -9.0, 9.0, step=0.25, key=name, persist_state=KEEP)
    return made[None]


def choose(bench: Bench) -> Setting:
    """Picture, kernel, and the heads dragged on the plane."""
    image = choose_picture(bench.t)
    filters = choose_filters(bench.t)
    heads = heads_from_kernel(for_channels(filters, len(image)), alpha=5.0)
    H = len(heads.offset)
    usual = heads.offset.flatten().tolist()
    offset = torch.tensor(reals(f"centres{H}", usual, -REACH, REACH)).reshape(H, 2)
    alpha = torch.tensor(reals(f"alphas{H}", [5.0] * H, 0, HIGHEST))
    return Setting(image=image, filters=filters, heads=replace(heads, offset=offset, alpha=alpha))


def _short(values: Tensor) -> Any:
    """Numbers as the link has them, without float32's last digits."""
    return values.double().round(decimals=4).tolist()


def live(bench: Bench, setting: Setting) -> None:
    """The plane of centres, where each head looks, and what comes out, live in the browser."""
    heads, grey = setting.heads, setting.image.mean(0)
    H, (rows, columns) = len(heads.offset), grey.shape
    row, column = state.whole("row", rows // 2, 0, rows - 1), state.whole("column", columns // 2, 0, columns - 1)
    header = {
        "kind": "picture", "rows": rows, "columns": columns,
        "cells": kernel_offsets(setting.filters.shape[1:]).tolist(),
        "choice": {
            "offsets": _short(heads.offset), "alphas": _short(heads.alpha), "query": [row, column],
            "head": state.whole("dot", H // 2, 0, H - 1), "shared": state.flag("shared_alpha", True),
        },
        "sent": sent_before(PLANE), "hues": HUES, "words": view_words(bench.scene),
    }  # fmt: skip
    data = pack(header, {"image": grey.float(), "kernel": setting.filters[0].flatten().float()}).data
    mount(VIEW, key=PLANE, data=data, on_choice_change=_take)
    st.caption(bench.t("convolution.live_note"))


def _take() -> None:
    sent = st.session_state[PLANE].get("choice")
    if not isinstance(sent, Mapping) or not isinstance(sent.get("offsets"), list):
        return
    H = len(sent["offsets"])
    pairs = [pair for pair in sent["offsets"] if isinstance(pair, list) and len(pair) == 2]
    query = sent.get("query")
    flat = {**sent, "offsets": [each for pair in pairs for each in pair]}
    if isinstance(query, list) and len(query) == 2:
        flat |= {"row": query[0], "column": query[1]}
    found = read_choice(
        flat, {"offsets": f"centres{H}", "alphas": f"alphas{H}"}, {"head": "dot", "row": "row", "column": "column"}
    )
    found |= {"shared_alpha": bool(sent.get("shared"))}
    for name, value in found.items():
        state.put(name, value)
