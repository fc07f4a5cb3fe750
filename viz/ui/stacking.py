"""The Stacking page: a tower of blocks on one text, and where one token of its top has its words from."""

from dataclasses import dataclass, field

import streamlit as st
import torch
from torch import Tensor

from viz.core.checks import rows_error
from viz.figures.bars import bars
from viz.figures.matrix import matrix
from viz.figures.palette import BLUE, ORANGE
from viz.models.tokens import Tokens
from viz.text import Translate
from viz.ui import compute_stacks, limits, state
from viz.ui.compute_blocks import reading
from viz.ui.controls import KEEP
from viz.ui.layout import Check, Scene, blocks_more, check, show
from viz.ui.specs import BlockPlan, Mask, Source
from viz.views.maps import Panel, pack_maps
from viz.views.mount import mount

HUES = {"positive": BLUE, "negative": ORANGE}
SEEDED_LAYERS, MOST_LAYERS = 6, 12
FIELDS = ("own", "causal", "window", "dilated")
"""Masks whose receptive field is shown; "own" adds none."""
FULL = 0.5
"""A row of flow whose least value is above this one tells the words hardly apart."""
NEAREST = 3
"""Words compared by name: those that count most."""


@dataclass(frozen=True, kw_only=True)
class Tower:
    """What the page stands on: a text, so many layers with weights of their own, a mask, and one token of the top.

    ``checks`` grows as the parts run.
    """

    scene: Scene
    plan: BlockPlan
    query: int
    tokens: Tokens
    checks: list[Check] = field(default_factory=list)

    @property
    def t(self) -> Translate:
        """The texts in the visitor's language."""
        return self.scene.t

    @property
    def source(self) -> Source:
        """Where the numbers come from."""
        return self.scene.choice.source

    @property
    def mask(self) -> Mask:
        """The sidebar's."""
        return self.scene.choice.mask

    @property
    def labels(self) -> tuple[str, ...]:
        """What to write for each token."""
        return self.tokens.labels

    @property
    def depth(self) -> int:
        """L."""
        return len(self.plan.layers)

    @property
    def origins(self) -> compute_stacks.Origins:
        """Rollout and flow."""
        return compute_stacks.origins(self.source, self.plan, self.mask)

    def level(self, i: int) -> str:
        """What a level is called: the words, or after so many layers."""
        return self.t("stacking.level", n=i) if i else self.t("stacking.level_0")


def about(scene: Scene) -> None:
    """Which numbers these are: a whole stack's, with the mask in every layer."""
    t, source, spec, masked = scene.t, scene.choice.source, scene.trace.projections.spec, blocks_more(scene)
    line = t(
        f"stacking.{source.kind}_line", model=source.model, seed=source.seed, H=spec.H, G=spec.G, d_model=spec.d_model,
        own=scene.capture.n_layers,
    )  # fmt: skip
    st.caption(line if masked or source.kind != "model" else f"{line} {t('source.model_own')}")
    if masked:
        st.caption(t("stacking.masked", mask=t(f"mask.{scene.choice.mask.kind}")))


def begin(scene: Scene) -> Tower:
    """The page's two controls, the number of layers and the token of the last one, and the tower they make."""
    t, source = scene.t, scene.choice.source
    own = scene.capture.n_layers if source.kind == "model" else 0
    tokens = reading(source).tokens
    if len(tokens.ids) < len(scene.labels):
        st.caption(t("stacking.first", n=len(tokens.ids)))
    columns = st.columns(2, vertical_alignment="bottom")
    highest = own or MOST_LAYERS
    depth = state.whole("depth", own or SEEDED_LAYERS, 1, highest)
    if highest > 1:
        columns[0].slider(
            t("stacking.depth"), 1, highest, key="depth", persist_state=KEEP, help=t("stacking.depth_help")
        )
    state.belong_to(tokens.labels, "from_token")
    query = state.whole("from_token", _usual(tokens), 0, len(tokens.ids) - 1)
    columns[1].selectbox(
        t("stacking.token"), list(range(len(tokens.ids))), key="from_token", persist_state=KEEP,
        format_func=lambda i: f"{i} · {tokens.labels[i]}", help=t("stacking.token_help"),
    )  # fmt: skip
    return Tower(scene=scene, plan=BlockPlan(layers=tuple(range(depth))), query=query, tokens=tokens)


def _usual(tokens: Tokens) -> int:
    """The famous *it*, else the last word."""
    plain = [i for i, special in enumerate(tokens.special) if not special] or [0]
    return tokens.labels.index("it") if "it" in tokens.labels else plain[-1]


def where_from(tower: Tower) -> None:
    """Raw weights, rollout and flow as maps, and the chosen token's rows of them beside what it really reacts to."""
    t, found = tower.t, tower.origins
    maps = {"weights": found.weights, "rollout": found.rollout} | ({} if found.flow is None else {"flow": found.flow})
    titles = {code: t(f"stacking.map_{code}", n=tower.depth, last=tower.depth - 1) for code in maps}
    panels = [Panel(code=code, title=titles[code], alt=titles[code], labels=tower.labels) for code in maps]
    words = {"says": t("stacking.pair_says"), "axes": t("stacking.axes")}
    packed = pack_maps(
        panels, torch.stack(list(maps.values())), what="weights", limit=1.0, gutter=True, words=words, hues=HUES
    )
    mount("maps", key="origins", data=packed)
    if blind := int((found.weights.amax(-1) == 0).sum()):
        st.caption(t("stacking.blind", n=blind))
    if found.flow is None:
        st.info(t("stacking.flow_long", n=len(tower.labels), limit=limits.FLOW_TOKENS))
    else:
        below = (found.rollout - found.flow).max().clamp(min=0)
        tower.checks.append(check("stacking.check_flow", below, 1e-5))
        if (low := float(found.flow[tower.query].min())) > FULL:
            st.caption(t("stacking.flow_full", low=f"{low:.2f}"))
    tower.checks.append(check("stacking.check_rollout", rows_error(found.rollout), 1e-5, n=tower.depth))
    _row(tower, {titles[code]: each[tower.query] for code, each in maps.items()})


def _row(tower: Tower, rows: dict[str, Tensor]) -> None:
    t, label = tower.t, tower.labels[tower.query]
    reacts = compute_stacks.gradients(tower.source, tower.plan, tower.mask, tower.query)[0]
    share = t("stacking.gradient")
    series = rows | {share: reacts / reacts.sum()}
    st.text(t("stacking.row", token=label, layers=tower.depth))
    top = None if tower.origins.flow is None else 1.02
    fig = bars(tower.labels, series, title=t("stacking.words"), value_title=t("stacking.share"), top=top, height=300)
    show(fig, key="origin_row", alt=t("stacking.row", token=label, layers=tower.depth))
    st.caption(t("stacking.row_note"))
    if len(tower.labels) > 2 * NEAREST:  # of a few words any three are the right ones
        _compare(tower, rows, series[share])


def _compare(tower: Tower, rows: dict[str, Tensor], reacts: Tensor) -> None:
    """Which words count most by each picture, and how many of them the gradient names too."""
    t = tower.t

    def best(values: Tensor) -> list[int]:
        return values.argsort(descending=True, stable=True)[:NEAREST].tolist()

    def said(places: list[int]) -> str:
        return ", ".join(tower.labels[i] for i in places)

    own = best(reacts)
    for name, values in rows.items():
        same = len(set(best(values)) & set(own))
        st.text(t("stacking.best", name=name, words=said(best(values)), same=same, n=NEAREST))
    st.text(t("stacking.best_gradient", words=said(own)))


def _field_mask(tower: Tower) -> Mask:
    t = tower.t
    columns = st.columns([4, 2, 2], vertical_alignment="bottom")
    kind = state.choice("field", "window", FIELDS)
    columns[0].segmented_control(
        t("stacking.field"), FIELDS, key="field", required=True, persist_state=KEEP,
        format_func=lambda code: t(f"masks.name_{code}"),
    )  # fmt: skip
    width, gap = state.whole("field_width", 1, 0, 16), state.whole("field_gap", 2, 1, 8)
    if kind in ("window", "dilated"):
        columns[1].slider(t("stacking.width"), 0, 16, key="field_width", persist_state=KEEP)
    if kind == "dilated":
        columns[2].slider(t("stacking.gap"), 1, 8, key="field_gap", persist_state=KEEP)
    return Mask(kind=kind, width=width, gap=gap)


def field_of(tower: Tower) -> None:
    """The cone below the chosen token: what masks let through, and how much of it is really used."""
    t, mask = tower.t, _field_mask(tower)
    found = compute_stacks.field(tower.source, tower.plan, mask, tower.query)
    measured = compute_stacks.gradients(tower.source, tower.plan, mask, tower.query)
    tallest = measured.amax(-1, keepdim=True)
    share = (measured / tallest.where(tallest > 0, torch.ones(()))).where(found.open, -torch.inf)
    n, label = len(tower.labels), tower.labels[tower.query]
    rows = [tower.level(i) for i in range(tower.depth + 1)]
    hover = [[_says(tower, name, i, j, share) for j in range(n)] for i, name in enumerate(rows)]
    fig = matrix(
        share.flip(0), rows[::-1], tower.labels, kind="weights", row_title=t("stacking.levels"),
        column_title=t("axis.tokens"), hover=hover[::-1],
    )  # fmt: skip
    st.text(t("stacking.field_of", token=label, layers=tower.depth, open=int(found.open[0].sum()), n=n))
    show(
        fig,
        key="cone",
        alt=t("stacking.field_alt", token=label, layers=tower.depth, open=int(found.open[0].sum()), n=n),
    )
    _formula(tower, mask, found.open[0])
    reached = int((measured > 0).sum())
    st.markdown(t("stacking.field_found", open=int(found.open.sum()), reached=reached))
    outside = int((~found.open[0]).sum())
    if outside:
        tower.checks.append(check("stacking.check_leak", found.leak, 0.0, n=outside))
        beyond = measured.where(~found.open, 0.0).max()
        tower.checks.append(check("stacking.check_field", beyond, 0.0, open=int(found.open.sum())))


def _says(tower: Tower, level: str, i: int, j: int, share: Tensor) -> str:
    key = "stacking.cell" if share[i, j].isfinite() else "stacking.cell_closed"
    return tower.t(key, token=tower.labels[j], level=level, share=f"{float(share[i, j]):.3f}")


def _formula(tower: Tower, mask: Mask, open_: Tensor) -> None:
    """How far the mask alone would let it see, beside what is counted."""
    reached = (open_.nonzero().flatten() - tower.query).tolist() or [0]
    back, ahead = -min(0, *reached, 0), max(0, *reached, 0)
    said = [tower.t("stacking.counted", back=back, ahead=ahead)]
    step = {"window": mask.width, "dilated": mask.width * mask.gap}.get(mask.kind, 0)
    sizes = {"L": tower.depth, "w": mask.width, "gap": mask.gap, "far": tower.depth * step}
    if step and not ahead and tower.query < len(open_) - 1:
        said.append(tower.t("stacking.formula_decoder"))
    st.markdown(" ".join([tower.t(f"stacking.formula_{mask.kind}", **sizes), *said]))


def model_check(tower: Tower) -> None:
    """A model's own hidden states against those of the blocks the page runs, where the page adds no mask."""
    if tower.source.kind != "model":
        return
    off, size = compute_stacks.state_error(tower.source, tower.plan)
    tower.checks.append(check("stacking.check_states", off, 1e-5 * max(1.0, size), n=tower.depth))
