"""The context of every section of the Masks page: one head's scores on the first tokens, and the mask over them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from viz import limits
from viz.core.attention import AttentionTrace, attend, options_of_first, row_softmax
from viz.core.heads import share_kv
from viz.frame import specs
from viz.frame.first_pair import first_query
from viz.frame.inputs import MASK, PAINTED_MASK, mask_details
from viz.frame.lazy import lazy
from viz.frame.mask_code import to_code
from viz.frame.scene import Scene, SceneContext, chosen_head
from viz.frame.shared import QUERY, SECTION, Places
from viz.params.memory import Remembered

WITHOUT_CHIP = ("editor", "decoding", "layers")
"""Sections without the mask's chip: in one the picture chooses the mask, the others have masks of their own."""
BASE_MASK: Remembered[str] = Remembered("_laid")
"""The page's mask over the scores, encoded as in a link: painting starts from it."""


@dataclass(frozen=True, kw_only=True)
class MasksContext(SceneContext):
    """The first tokens of a text, a layer's q, k, v on them, one head, one query and a mask.

    Derived numbers are computed on first access, through the cache.
    """

    n: int
    head: int
    query: int
    places: Places
    mask: specs.Mask

    @property
    def q(self) -> Tensor:
        """Queries of every head, (H, n, d_k)."""
        return self.scene.call.q[:, : self.n]

    @property
    def k(self) -> Tensor:
        """Keys of every key/value head, (G, n, d_k)."""
        return self.scene.call.k[:, : self.n]

    @property
    def v(self) -> Tensor:
        """Values of every key/value head, (G, n, d_v)."""
        return self.scene.call.v[:, : self.n]

    @property
    def model_allowed(self) -> Tensor:
        """The model's own mask of the head, (n, n); all True where it has none."""
        allowed: Tensor | None = self.scene.call.options.get("allowed")
        mask = torch.ones(1, 1, dtype=torch.bool) if allowed is None else allowed[..., : self.n, : self.n]
        return (mask[self.head] if mask.ndim > 2 else mask).expand(self.n, self.n)

    @property
    def options(self) -> Mapping[str, Any]:
        """Options of the layer's attention but its mask: its bias and scale."""
        return {k: value for k, value in options_of_first(self.scene.call.options, self.n).items() if k != "allowed"}

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of the tokens."""
        return self.scene.labels[: self.n]

    @lazy
    def every_head(self) -> AttentionTrace:
        """Every step of every head without any mask, not even the model's own."""
        return attend(self.q, share_kv(self.k, len(self.q)), share_kv(self.v, len(self.q)), **self.options)

    @property
    def scores(self) -> Tensor:
        """The head's scaled scores with the model's bias, before any mask."""
        return self.every_head.masked[self.head]

    @property
    def page_mask(self) -> Tensor:
        """The page's mask, (n, n); all True where it adds none."""
        return self.cells_of(self.mask)

    @property
    def visible(self) -> Tensor:
        """The page's mask and the model's own together."""
        return self.page_mask & self.model_allowed

    def cells_of(self, mask: specs.Mask) -> Tensor:
        """Return a mask's cells on these tokens, (n, n)."""
        cells = mask.allowed(self.n, self.n)
        return torch.ones(self.n, self.n, dtype=torch.bool) if cells is None else cells

    @lazy
    def weights(self) -> Tensor:
        """The head's weights under the mask."""
        return masked_softmax(self.scores, self.visible)

    @property
    def fully_masked(self) -> list[int]:
        """Fully masked queries."""
        return [i for i, sees in enumerate(self.visible.any(-1).tolist()) if not sees]


def masked_softmax(scores: Tensor, visible: Tensor) -> Tensor:
    """Softmax with the mask before it, as everywhere in this app."""
    return row_softmax(scores.masked_fill(~visible, -torch.inf))


def open_masks(scene: Scene) -> MasksContext:
    """Draw the controls that all sections share, and return the context."""
    t, n, H = scene.t, min(len(scene.labels), limits.PAINTED_TOKENS), scene.trace.projections.spec.H
    head = chosen_head(scene, t("masks.head"), H)
    mask = scene.choice.mask
    if SECTION.value not in WITHOUT_CHIP:
        with scene.chips.add("mask", t(f"chips.mask_{mask.kind}")):
            MASK.pills(
                t("choice.mask"),
                says=lambda code: t(f"masks.name_{code}"),
                on_change=begin_painting,
                label_visibility="collapsed",
            )
            mask_details(t, mask.kind)
    if n < len(scene.labels):
        st.caption(t("note.first", n=n))
    default = first_query(scene.labels[:n], scene.capture.tokens.special[:n], scene.trace.weights[head, :n, :n])
    places = Places(scene.labels, default, range(n))
    context = MasksContext(scene=scene, n=n, head=head, query=QUERY.read(places), places=places, mask=mask)
    BASE_MASK.set(to_code(context.page_mask))
    return context


def begin_painting() -> None:
    """Start painting from the current mask."""
    if MASK.value == "painted" and not (PAINTED_MASK.has_value and PAINTED_MASK.value):
        PAINTED_MASK.set(BASE_MASK.read())
