"""Downloads: every intermediate as .npz, the page as a file, and torch code that recomputes the numbers."""

import io
from collections.abc import Sequence
from functools import partial
from string import Template
from typing import Any

import numpy as np
import streamlit as st
import torch
from torch import Tensor

from pages.heads import page_file
from viz import ASSETS, ROOT
from viz.core.heads import MultiHeadTrace
from viz.frame import compute, specs
from viz.frame.mask_code import from_code
from viz.frame.scene import Scene
from viz.models import registry
from viz.models.tokens import Tokens

SNIPPETS = ASSETS / "snippets"


def to_npz(trace: MultiHeadTrace, labels: Sequence[str]) -> bytes:
    """Every intermediate of a layer under the core's names, with W_Q, W_K, W_V, W_O and the tokens."""
    arrays = {name: value for name, value in vars(trace).items() if name != "projections"} | vars(trace.projections)
    file = io.BytesIO()
    tensors: dict[str, Any] = {name: value.numpy() for name, value in arrays.items() if isinstance(value, Tensor)}
    np.savez_compressed(file, tokens=np.array(labels), scale=np.array(trace.scale), **tensors)
    return file.getvalue()


MASK_CODE = {
    "own": "torch.ones(n, n, dtype=torch.bool)",
    "causal": "torch.ones(n, n).tril().bool()",
    "padding": "{real}.expand(n, n)",
    "both": "torch.ones(n, n).tril().bool() & {real}",
    "window": "(torch.arange(n)[:, None] - torch.arange(n)).abs() <= {width}",
    "dilated": "((d := (torch.arange(n)[:, None] - torch.arange(n)).abs()) <= {reach}) & (d % {gap} == 0)",
    "prefix": "torch.ones(n, n).tril().bool() | (torch.arange(n) < {width})",
    "blocks": "torch.arange(n) // {block} <= (torch.arange(n) // {block})[:, None]",
    "painted": "torch.nn.functional.pad(torch.tensor({cells}).bool(), (0, n - {side}, 0, n - {side}), value=True)",
}


def mask_code(mask: specs.Mask, n: int) -> str:
    """One line of torch that makes this mask for n tokens: (n, n), True where a query may look."""
    if mask.kind == "painted" and not mask.painted:
        return MASK_CODE["own"]
    square = from_code(mask.painted)[:n, :n].int() if mask.painted else torch.zeros(0, 0)
    return MASK_CODE[mask.kind].format(
        width=mask.width,
        gap=mask.gap,
        reach=mask.width * mask.gap,
        block=max(1, mask.width),
        cells=square.tolist(),
        side=len(square),
        real=f"(torch.arange(n) >= {mask.pad})" if mask.pad_left else f"(torch.arange(n) < n - {mask.pad})",
    )


def _name(model: str) -> str:
    """The public name of a model: on the hub, or its folder relative to the project."""
    entry = next((entry for entry in registry.entries() if entry.id == model), None)
    if entry is None:
        return model
    return entry.hub or (entry.path.relative_to(ROOT).as_posix() if entry.path else model)


def _encoder(source: specs.Source) -> str:
    """The text is read by the encoder alone, where a model has one beside its decoder."""
    two = source.kind == "model" and compute.model(source.model).model.config.is_encoder_decoder
    return ".get_encoder()" if two else ""


def to_code(source: specs.Source, layer: int, head: int, mask: specs.Mask, tokens: Tokens) -> str:
    """About 15 lines of torch that compute this head's weights again, without Headlight."""
    values = {
        "text": repr(source.text),
        "model": repr(_name(source.model)),
        "encoder": _encoder(source),
        "layer": layer,
        "head": head,
        "seed": source.seed,
        "d_model": source.d_model,
        "n_heads": source.n_heads,
        "n_kv_heads": source.n_kv_heads,
        "mask": mask_code(mask, len(tokens.ids)),
        "ids": list(tokens.ids),
        "names": " ".join(tokens.labels),
        "n": len(tokens.ids),
    }
    return Template((SNIPPETS / f"{source.kind}.txt").read_text("utf-8")).substitute(values)


def _npz(source: specs.Source, layer: int, mask: specs.Mask) -> bytes:
    return to_npz(compute.trace(source, layer, mask), compute.read(source).tokens.labels)


def downloads(scene: Scene, head: int, view: specs.View) -> None:
    """Buttons that save the numbers, and the code; files are built only when asked for."""
    t, choice = scene.t, scene.choice
    st.download_button(
        t("export.npz"),
        partial(_npz, choice.source, choice.layer, choice.mask),
        f"headlight-layer{scene.layer_number}.npz",
        "application/octet-stream",
        on_click="ignore",
        width="stretch",
    )
    page_file.offer(scene, view)
    st.caption(t("export.code"))
    if choice.source.model and _name(choice.source.model).startswith("assets/"):
        st.caption(t("export.code_folder"))
    elif choice.source.model and compute.model(choice.source.model).is_packaged:
        st.caption(t("export.code_packaged"))
    st.code(to_code(choice.source, choice.layer, head, choice.mask, scene.capture.tokens), language="python")
