"""What the Positions page stands on: a text's first layer of heads before any position, and every way to add one."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import streamlit as st
import torch
from torch import Tensor

from viz.core.encodings import Encoding
from viz.core.heads import HeadWeights
from viz.core.masks import combine
from viz.figures.palette import BLUE, HEADS, ORANGE
from viz.models.tokens import Tokens
from viz.text import Translate
from viz.ui import compute, state
from viz.ui.compute import Placing
from viz.ui.layout import Check, Scene, mask_added, provenance

COLOURS = {"positive": BLUE, "negative": ORANGE, "series": (BLUE, ORANGE, *HEADS[2:4])}
"""The palette, for what is drawn in the browser."""

BASE, LOWEST_BASE, HIGHEST_BASE = 10_000.0, 2.0, 1e6


@dataclass(frozen=True, kw_only=True)
class Ground:
    """A text, its first layer of heads, one head of it, and the encodings there are. ``checks`` grows as parts run."""

    scene: Scene
    tokens: Tokens
    vectors: Tensor
    rows: Tensor | None
    weights: HeadWeights
    head: int
    placing: Placing
    encodings: Mapping[str, Encoding]
    checks: list[Check] = field(default_factory=list)

    @property
    def t(self) -> Translate:
        """The texts in the visitor's language."""
        return self.scene.t

    @property
    def n(self) -> int:
        """Tokens."""
        return len(self.tokens.ids)

    def name(self, code: str) -> str:
        """What an encoding is called on the screen."""
        return self.t(f"positions.name_{code}")

    def map_words(self) -> dict[str, str]:
        """What the strip of maps says about tokens."""
        return {"says": self.t("positions.pair_says"), "axes": self.t("positions.axes")}

    def placed(self, code: str, order: tuple[int, ...] = ()) -> Placing:
        """The page's settings with one encoding, and the words in an order."""
        return replace(self.placing, code=code, order=order)

    def scores(self, code: str, order: tuple[int, ...] = ()) -> Tensor:
        """The chosen head's scaled scores under an encoding, with its bias and no mask, (T, T).

        Args:
            code: of the encoding.
            order: place i holds token ``order[i]``.

        Raises:
            ValueError: if the encoding does not fit these sizes.
        """
        return compute.encoded(self.scene.choice.source, self.placed(code, order))[self.head]

    def say_gain(self, code: str) -> None:
        """Say so where a formula's rows were scaled to suit a model's tokens."""
        gain = compute.row_gain(self.scene.choice.source)
        if code == "sinusoidal" and gain != 1.0:
            st.caption(self.t("positions.gain", gain=f"{gain:.3g}"))

    def fits(self, code: str) -> bool:
        """Whether an encoding suits these sizes; the comparison says why not."""
        try:
            self.scores(code)
        except ValueError:
            return False
        return True

    def masked(self, scores: Tensor) -> Tensor:
        """Scores with the masks of the model and of the sidebar."""
        own = compute.placed(self.scene.choice.source, Placing()).calls[0].options.get("allowed")
        allowed = combine(own, self.scene.choice.mask.allowed(self.n, self.n))
        allowed = allowed[self.head] if allowed is not None and allowed.ndim > 2 else allowed
        return scores if allowed is None else scores.masked_fill(~allowed, -torch.inf)


def about(scene: Scene) -> None:
    """Where the numbers come from: the heads may be a model's own while the positions are not."""
    t, source, spec = scene.t, scene.choice.source, scene.trace.projections.spec
    if source.kind == "words":
        provenance(scene)
        return
    line = t(
        f"positions.{source.kind}_line", model=source.model, layer=scene.choice.layer, last=scene.capture.n_layers - 1,
        seed=source.seed, H=spec.H, G=spec.G, kind=spec.kind, d_model=spec.d_model, d_k=spec.d_k, n=len(scene.labels),
    )  # fmt: skip
    if source.kind == "model":
        own = "table" if compute.own_rows(source) is not None else "turns" if scene.capture.calls[0].rotary else "other"
        line = f"{line} {t(f'positions.model_{own}')}"
    st.caption(line)
    mask_added(scene)


def stand(scene: Scene) -> Ground:
    """Declare what all parts of the page share, and read the text without positions."""
    source = scene.choice.source
    capture = compute.placed(source, Placing())
    _, vectors = compute.bare(source)
    placing = Placing(
        base=state.real("base", BASE, LOWEST_BASE, HIGHEST_BASE),
        alpha=state.real("near_alpha", 0.5, 0.0, 5.0),
        delta=float(state.whole("near_delta", -1, -8, 8)),
    )
    n = len(capture.tokens.ids)
    return Ground(
        scene=scene, tokens=capture.tokens, vectors=vectors[:n], rows=compute.own_rows(source),
        weights=capture.calls[0].projections, placing=placing, encodings=compute.every_encoding(source, placing),
        head=state.whole("place_head", 2, 0, capture.n_heads - 1),
    )  # fmt: skip
