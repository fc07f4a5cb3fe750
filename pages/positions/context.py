"""The context of every section of the Positions page: a text's first tokens, a head of the first layer, settings."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import streamlit as st
import torch
from torch import Tensor

from pages.positions import compute as own_compute
from viz import limits
from viz.core.masks import combine
from viz.core.spec import AttentionSpec
from viz.core.variants.encodings import Encoding
from viz.errors import ModelError
from viz.frame import compute
from viz.frame.compute.positions import every_encoding, own_rows, row_gain
from viz.frame.format import number
from viz.frame.lazy import lazy
from viz.frame.scene import Scene, SceneContext, mask_added, provenance, source_line
from viz.frame.shared import HEAD
from viz.frame.specs import Placing
from viz.models.capture import Capture
from viz.models.positions import first
from viz.models.tokens import Tokens
from viz.params import Int, Real

FOUR_ABREAST = 800
"""Width in pixels at which a strip of small maps has four in a row."""

LOWEST_BASE, HIGHEST_BASE = 2.0, 1e6
BASE = Real("base", 10_000.0, low=LOWEST_BASE, high=HIGHEST_BASE)
ALPHA = Real("near_alpha", 0.5, high=5.0)
"""Sharpness of the quadratic bias."""
DELTA = Int("near_delta", -1, low=-8, high=8)
"""Offset that the quadratic bias prefers."""
PLACE_HEAD = HEAD.variant(name="place_head", default=2)


@dataclass(frozen=True, kw_only=True)
class PositionsContext(SceneContext):
    """A text's first tokens, one head of the first layer, and the settings of all encodings.

    The rest (the text without positions, the encodings) is computed on first access.
    """

    tokens: Tokens
    head: int
    placing: Placing

    @property
    def n(self) -> int:
        """Number of tokens."""
        return len(self.tokens.ids)

    @property
    def spec(self) -> AttentionSpec:
        """The sizes of the first layer."""
        return self.unplaced.calls[0].projections.spec

    @lazy
    def vectors(self) -> Tensor:
        """The tokens' vectors before any position is added, (T, d_model)."""
        return compute.bare(self.scene.choice.source)[1][: self.n]

    @lazy
    def rows(self) -> Tensor | None:
        """The model's own table of positions, if it has one."""
        return own_rows(self.scene.choice.source)

    @lazy
    def encodings(self) -> Mapping[str, Encoding]:
        """Every encoding by its code; a model that takes no vectors is refused here."""
        self.unplaced  # noqa: B018 -- an error has its sentence
        return every_encoding(self.scene.choice.source, self.placing)

    @lazy
    def unplaced(self) -> Capture:
        """The text read without any position."""
        return own_compute.place_tokens(self.scene.choice.source, Placing())

    @property
    def model_allowed(self) -> Tensor | None:
        """The model's own mask for the head, (T, T); None where it leaves everything visible."""
        visible: Tensor | None = self.unplaced.calls[0].options.get("allowed")
        return visible[self.head] if visible is not None and visible.ndim > 2 else visible

    @lazy
    def allowed(self) -> Tensor | None:
        """The masks of the model and the user together, for the head; None where both leave everything visible."""
        return combine(self.model_allowed, self.scene.choice.mask.allowed(self.n, self.n))

    def name(self, code: str) -> str:
        """Return the name of an encoding."""
        return self.t(f"positions.name_{code}")

    def with_positions(self, code: str, order: tuple[int, ...] = ()) -> Placing:
        """Return the page's settings with one encoding, and the words in an order."""
        return replace(self.placing, code=code, order=order)

    def scores(self, code: str, order: tuple[int, ...] = ()) -> Tensor:
        """Return the head's scaled scores under an encoding, with its bias and no mask, (T, T).

        Raises:
            ValueError: if the encoding does not fit these sizes.
        """
        return own_compute.encoded(self.scene.choice.source, self.with_positions(code, order))[2][self.head]

    def masked(self, scores: Tensor) -> Tensor:
        """Apply the masks of the model and the user to scores."""
        return scores if self.allowed is None else scores.masked_fill(~self.allowed, -torch.inf)

    def fits(self, code: str) -> bool:
        """Return True if an encoding suits these sizes; the comparison gives the reason if not."""
        try:
            self.encodings[code].table(*self.vectors.shape)
            self.encodings[code].turn(torch.zeros(self.n, self.spec.d_k))
        except ValueError:
            return False
        return True

    @property
    def gain(self) -> float:
        """Factor by which a formula's rows are scaled to suit a model's tokens."""
        return row_gain(self.scene.choice.source)

    def say_base(self) -> None:
        """Note that the base is set in another section."""
        st.caption(self.t("positions.base_says", base=number(self.placing.base, 3)))

    def say_gain(self, code: str) -> None:
        """Note that a formula's rows are scaled."""
        if code == "sinusoidal" and self.gain != 1.0:
            st.caption(self.t("positions.gain", gain=number(self.gain, 3)))
        else:
            st.empty()


def refuse_later_layer(scene: Scene) -> None:
    """Refuse a model whose first layers do not attend, where a section begins with words without positions.

    Raises:
        ModelError: "first_layer".
    """
    if (layer := scene.capture.number(0)) > 0:
        raise ModelError("first_layer", model=scene.choice.source.model, layer=layer)


def turns_whole(scene: Scene) -> bool:
    """Return True if the model's first layer turns its queries and keys as they are, all their numbers."""
    return scene.capture.number(0) == 0 and scene.capture.calls[0].rotation == "whole"


def about(scene: Scene) -> None:
    """Describe the source of the numbers: the heads may be a model's own while the positions are not."""
    t, source = scene.t, scene.choice.source
    if source.kind == "words":
        provenance(scene)
        return
    line = source_line(scene, "positions")
    if source.kind == "model":
        turns = "turns" if scene.capture.calls[0].rotary else "other"
        place = "table" if own_rows(source) is not None else turns
        line = f"{line} {t(f'positions.model_{place}')}"
    st.caption(line)
    mask_added(scene)


def open_positions(scene: Scene) -> PositionsContext:
    """Draw the chip of the head, and return the context."""
    t, H = scene.t, scene.trace.projections.spec.H
    head = PLACE_HEAD.read(H)
    if H > 1 and scene.reads_head:
        with scene.chips.add("head", t("chips.head", head=head)):
            PLACE_HEAD.slider(t("positions.head"), H)
            st.caption(t("positions.first_layer"))
    tokens = first(scene.capture.tokens, limits.PLACED_TOKENS)
    if len(tokens.ids) < len(scene.labels):
        st.caption(t("positions.first", n=len(tokens.ids)))
    placing = Placing(base=BASE.read(), alpha=ALPHA.read(), delta=float(DELTA.read()))
    return PositionsContext(scene=scene, tokens=tokens, head=head, placing=placing)
