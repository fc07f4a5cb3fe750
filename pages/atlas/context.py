"""Context of the page's sections: a model's atlas and the selected head."""

import math
from dataclasses import dataclass

import streamlit as st

from pages.atlas import compute, progress
from pages.atlas.parameters import ATLAS_CORPUS, ATLAS_HEAD, ATLAS_LAYER, ATLAS_NOW, OWN_TEXTS
from viz import limits
from viz.core.analysis.atlas.summary import Score, labels_of
from viz.errors import ModelError
from viz.frame.format import number, part
from viz.frame.modes.figure_facts import note
from viz.frame.scene import Scene, SceneContext, say_layer_kinds, unsupported_part
from viz.frame.shared import Places
from viz.frame.specs import Source
from viz.models.atlas.corpus import LANGUAGES, LONGEST, sentences
from viz.models.atlas.file import SHIPPED
from viz.models.atlas.make import Atlas
from viz.params import Choice
from viz.text import Translate

WIDTH = 300
"""Of a control, in pixels."""
SUPPORTED = ("latent", "maps")
"""Parts of a model's layers that the scores reckon with, as in ``Page.knows``."""
SIZES = ("entropy", "distance", "removal")
"""Scores that are no part of 1."""


@dataclass(frozen=True, kw_only=True)
class AtlasContext(SceneContext):
    """An atlas; ``source`` is the page's text as its model reads it, ``example`` says that another model was chosen."""

    source: Source
    example: bool
    atlas: Atlas

    @property
    def names(self) -> list[str]:
        """The scores that this model has, in their order."""
        return list(self.atlas.scores)

    def score(self, name: str) -> Score:
        """One score of every head."""
        return self.atlas.scores[name]

    def title(self, name: str) -> str:
        """The title of a score."""
        return self.t(f"atlas.s_{name}")

    def labels(self, layer: int, head: int) -> list[str]:
        """The labels of a head, the clearest first."""
        return labels_of(self.atlas.scores, layer, head)

    def chosen(self, name: str) -> tuple[int, int]:
        """The selected head, from the map or the chip; by default the one with the highest score."""
        t, (layers, heads) = self.t, self.atlas.size
        place = divmod(int(self.score(name).mean.nan_to_num(-1).argmax()), heads)
        in_layers, in_heads = (Places((), first, range(n)) for first, n in zip(place, (layers, heads), strict=True))
        layer, head = ATLAS_LAYER.read(in_layers), ATLAS_HEAD.read(in_heads)
        if self.draws_first(ATLAS_HEAD.name):
            with self.scene.chips.add(ATLAS_HEAD.name, t("atlas.chip_head", layer=layer, head=head)):
                ATLAS_LAYER.slider(t("atlas.layer"), in_layers)
                ATLAS_HEAD.slider(t("atlas.head"), in_heads)
        return layer, head

    def say_which(self) -> None:
        """Show model, corpus and date of the numbers."""
        st.caption(_which(self.t, self.atlas))

    def choose_score(self, parameter: Choice) -> str:
        """A select box of the scores."""
        t = self.t  # a method as `format_score` would keep a reference to the scene
        return parameter.selectbox(
            t(f"atlas.{parameter.name}"), self.names, says=lambda name: t(f"atlas.s_{name}"), width=WIDTH
        )


def choose_head(layer: int, head: int) -> None:
    """Select the clicked head."""
    ATLAS_LAYER.choose(layer)
    ATLAS_HEAD.choose(head)


def format_score(name: str, value: float) -> str:
    """A score as text; "–" where there is none."""
    if not math.isfinite(value):
        return "–"
    return number(value, 3) if name in SIZES or value < 0 else part(value)


def open_atlas(scene: Scene) -> AtlasContext | None:
    """Draw the chip of the corpus, and find the atlas or compute it; None while there is none."""
    t, selected_source = scene.t, scene.choice.source
    example = selected_source.kind != "model"
    if not example:
        refuse_unscored(scene)
    model = SHIPPED[0][0] if example else selected_source.model
    source = Source(kind="model", text=selected_source.text, model=model)
    corpus, now = _corpus(scene, model)
    lines = own_lines(selected_source.text) if corpus == OWN_TEXTS else sentences(corpus)
    atlas = None if now or corpus == OWN_TEXTS else compute.on_file(model, corpus)
    if example:
        st.caption(t("atlas.example", model=model))
    if atlas is None:
        atlas = progress.compute_atlas(t, model, corpus, lines, at_once=now or corpus == OWN_TEXTS)
    if atlas is None:
        return None
    note([_which(t, atlas)])  # it stands below the pictures that are saved, too
    if n := compute.n_cut(model, lines) if corpus == OWN_TEXTS else 0:
        st.caption(t("atlas.lines_cut", n=n, most=LONGEST))
    return AtlasContext(scene=scene, source=source, example=example, atlas=atlas)


def refuse_unscored(scene: Scene) -> None:
    """Refuse a model before anything is offered for it, if a layer has a part that the scores do not reckon with.

    Raises:
        ModelError: "sink", "gate" or "values".
    """
    for call in scene.capture.calls:
        if part := unsupported_part(call, SUPPORTED):
            raise ModelError(part, model=scene.choice.source.model)


def own_lines(text: str) -> tuple[str, ...]:
    """The lines of a text that have something in them, so many at most."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return tuple(lines[: limits.ATLAS_LINES])


def _corpus(scene: Scene, model: str) -> tuple[str, bool]:
    """Return the corpus, and whether to compute it although a file has the numbers."""
    t, default = scene.t, dict(SHIPPED).get(model, LANGUAGES[0])
    corpus = ATLAS_CORPUS.read(default)
    with scene.chips.add_setting():
        ATLAS_CORPUS.radio(t("atlas.atlas_corpus"), default, says=lambda code: t(f"atlas.corpus_{code}"))
        may_compute = limits.ATLAS_NOW and not progress.is_too_large(model)
        now = may_compute and ATLAS_NOW.toggle(t("atlas.atlas_now"), help=t("atlas.atlas_now_help"))
        if may_compute:
            st.caption(progress.takes(t, model, len(sentences(LANGUAGES[0]))))
        st.caption(t("atlas.corpus_note"))
    return corpus, now


def _which(t: Translate, atlas: Atlas) -> str:
    """Return model, corpus and day in one line."""
    layers, heads = atlas.size
    values = {
        "model": atlas.model,
        "heads": layers * heads,
        "corpus": t(f"atlas.of_{atlas.corpus}", n=len(atlas.lines)),
    }
    return t("atlas.from_file", day=atlas.made, **values) if atlas.made else t("atlas.from_now", **values)


def about(scene: Scene) -> None:
    """Show which model the numbers belong to, and where a sink or a gate of it stands; seeded heads have none."""
    source = scene.choice.source
    st.caption(scene.t(f"atlas.{source.kind}_line", model=source.model))
    if source.kind == "model":
        say_layer_kinds(scene)
