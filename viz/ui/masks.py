"""The Masks page: one head's scores, any mask over them, and what is left to look at."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import streamlit as st
import torch
from torch import Tensor

from viz.core.attention import AttentionTrace, attend, row_softmax
from viz.core.cost import attention_flops
from viz.core.heads import share_kv
from viz.core.masks import combine, from_code, to_code
from viz.figures.palette import BLUE, ORANGE
from viz.models.capture import Call
from viz.text import Translate, sentences
from viz.ui import compute, limits, state
from viz.ui.controls import KEEP, mask_details
from viz.ui.layout import Scene
from viz.ui.walk import first_query
from viz.views.maps import Panel, pack_maps
from viz.views.masks import pack_painter
from viz.views.mount import mount

PAINTER, STRIP = "painter", "every_mask"
HUES = {"positive": BLUE, "negative": ORANGE}


@dataclass(frozen=True, kw_only=True)
class Board:
    """What the page stands on: the first tokens of a text, a layer's q, k and v on them, one head, one query, a mask.

    What the model adds to its scores is in ``options``; the mask it has anyway is ``own``, (n, n), for this head.
    """

    scene: Scene
    n: int
    head: int
    query: int
    mask: compute.Mask
    q: Tensor
    k: Tensor
    v: Tensor
    own: Tensor
    options: Mapping[str, Any]

    @property
    def t(self) -> Translate:
        """The texts in the visitor's language."""
        return self.scene.t

    @property
    def labels(self) -> tuple[str, ...]:
        """What to write for each token."""
        return self.scene.labels[: self.n]

    @cached_property
    def every_head(self) -> AttentionTrace:
        """Every step of every head, with no mask at all, not even the model's own."""
        return attend(self.q, share_kv(self.k, len(self.q)), share_kv(self.v, len(self.q)), **self.options)

    @property
    def scores(self) -> Tensor:
        """The chosen head's, scaled and with what the model adds to them, before any mask."""
        return self.every_head.masked[self.head]

    @property
    def laid(self) -> Tensor:
        """The page's mask, (n, n); nothing is blocked where it adds none."""
        return self.laid_by(self.mask)

    @property
    def allowed(self) -> Tensor:
        """The page's mask and the model's own together."""
        return self.laid & self.own

    def laid_by(self, mask: compute.Mask) -> Tensor:
        """Another mask on the same tokens."""
        made = mask.allowed(self.n, self.n)
        return torch.ones(self.n, self.n, dtype=torch.bool) if made is None else made

    @cached_property
    def weights(self) -> Tensor:
        """The chosen head's, with the mask."""
        return row_softmax(self.scores.masked_fill(~self.allowed, -torch.inf))

    @property
    def blind(self) -> list[int]:
        """Queries that may look nowhere."""
        return [i for i, sees in enumerate(self.allowed.any(-1).tolist()) if not sees]


def _first(call: Call, n: int, head: int) -> dict[str, Any]:
    """A layer's q, k, v on the first n tokens, with its options and, for one head, its own mask."""

    def corner(values: Any) -> Any:
        return values[..., :n, :n] if isinstance(values, Tensor) else values

    options = {name: corner(value) for name, value in call.options.items()}
    own = combine(options.pop("allowed", None), torch.ones(n, n, dtype=torch.bool))
    assert own is not None
    own = own[head] if own.ndim > 2 else own
    return {"q": call.q[:, :n], "k": call.k[:, :n], "v": call.v[:, :n], "own": own, "options": options}


def begin(scene: Scene) -> Board:
    """Draw the page's controls and say what was chosen."""
    t, n, spec = scene.t, min(len(scene.labels), limits.PAINTED_TOKENS), scene.trace.projections.spec
    head = state.whole("head", 1, 0, spec.H - 1)
    _kinds(t)
    about, heads = st.columns([3, 2])
    about.markdown(t(f"masks.about_{scene.choice.mask.kind}"))
    if spec.H > 1:
        heads.slider(t("masks.head"), 0, spec.H - 1, key="head", persist_state=KEEP)
    with st.container(horizontal=True, gap="large", vertical_alignment="bottom"):
        mask_details(t, scene.choice.mask.kind)
    if n < len(scene.labels):
        st.caption(t("masks.first", n=n))
    call = scene.capture.calls[scene.choice.layer]
    own = _first(call, n, head)
    usual = first_query(scene.labels[:n], scene.capture.tokens.special[:n], scene.trace.weights[head, :n, :n])
    state.belong_to((scene.labels, scene.labels), "query", "key")
    query = state.pick("query", usual, range(n))
    board = Board(scene=scene, n=n, head=head, query=query, mask=scene.choice.mask, **own)
    st.session_state["_laid"] = to_code(board.laid)
    return board


def _kinds(t: Translate) -> None:
    """The kinds of masks."""
    st.pills(
        t("sidebar.mask"), compute.MASKS, key="mask", required=True, persist_state=KEEP, on_change=_begin_painting,
        format_func=lambda code: t(f"masks.name_{code}"),
    )  # fmt: skip


def _begin_painting() -> None:
    """Painting starts from the mask that was there."""
    if st.session_state["mask"] == "painted" and not st.session_state.get("painted"):
        state.put("painted", st.session_state["_laid"])


def painter(board: Board) -> None:
    """The mask, to be painted on, beside what the softmax makes of it."""
    t, before = board.t, st.session_state.get(PAINTER, {}).get("choice") or {}
    words = {name: text for name, text in words_of(board, PAINTER).items() if name != "weights"}
    data = pack_painter(
        board.scores, board.laid, board.own, labels=board.labels, hues=HUES, query=board.query,
        words={**words, "weights": t("masks.painter.weights", head=board.head)}, sent=before.get("sent", 0),
    )  # fmt: skip
    mount("mask_painter", key=PAINTER, data=data, on_choice_change=_take)


def words_of(board: Board, view: str) -> dict[str, str]:
    """A view's own words, to be filled in by the browser: the texts below ``masks.<view>``."""
    prefix = f"masks.{view}."
    names = [name.removeprefix(prefix) for name in sentences(board.scene.choice.lang) if name.startswith(prefix)]
    return {name: board.t(f"masks.{view}.{name}") for name in names}


def _take() -> None:
    """Take over what was painted in the browser, if it is a mask that is not too large."""
    code = read_painted(st.session_state[PAINTER].get("choice"))
    if code is not None:
        state.put("mask", "painted")
        state.put("painted", code)


def read_painted(sent: Any) -> str | None:
    """The mask a browser sent, as a link holds it; None for anything else.

    Example:
        >>> read_painted({"code": "2.8A"}), read_painted({"code": "2.!"}), read_painted("2.8A")
        ('2.8A', None, None)
    """
    code = sent.get("code") if isinstance(sent, Mapping) else None
    try:
        return code if isinstance(code, str) and len(from_code(code)) <= limits.PAINTED_TOKENS else None
    except ValueError:
        return None


def open_diagonal() -> None:
    """Let every token look at itself, and nothing else."""
    side = len(from_code(st.session_state["_laid"]))
    state.put("mask", "painted")
    state.put("painted", to_code(torch.eye(side, dtype=torch.bool)))


def blocked(board: Board) -> None:
    """Say so where a mask leaves nothing to look at, and what can be done."""
    t, blind = board.t, board.blind
    if len(blind) == board.n:
        st.warning(t("masks.blocks_all"))
        st.button(t("masks.open_diagonal"), on_click=open_diagonal)
    elif blind:
        st.warning(t("masks.blocks_rows", n=len(blind)))
    if not bool(board.own.all()):
        st.caption(t("masks.own", n=int((~board.own).sum())))


def every_mask(board: Board) -> None:
    """The same scores under every mask, one scale, each a button that opens it; and what each keeps and costs."""
    t, chosen = board.t, board.mask
    kinds = {kind: chosen if kind == chosen.kind else _usual(kind) for kind in compute.MASKS}
    if not kinds["painted"].painted:
        del kinds["painted"]
    allowed = {kind: board.laid_by(mask) & board.own for kind, mask in kinds.items()}
    weights = [row_softmax(board.scores.masked_fill(~each, -torch.inf)) for each in allowed.values()]
    panels = [
        Panel(code=kind, title=t(f"masks.name_{kind}"), alt=t("masks.map_alt", name=t(f"masks.name_{kind}")),
              labels=board.labels)
        for kind in allowed
    ]  # fmt: skip
    packed = pack_maps(
        panels, torch.stack(weights), what="weights", limit=1.0, chosen=chosen.kind, hues=HUES,
        words={"says": t("positions.pair_says"), "axes": t("masks.axes")},
    )  # fmt: skip
    mount("maps", key=STRIP, data=packed, on_chosen_change=_open)
    _costs(board, allowed)


def _usual(kind: str) -> compute.Mask:
    """A kind of mask as it would open: with what the visitor set for it before."""
    names = ("width", "gap", "pad", "pad_left", "painted")
    return compute.Mask(kind=kind, **{n: st.session_state[n] for n in names if n in st.session_state})


def _open() -> None:
    kind = st.session_state[STRIP].get("chosen")
    if kind in compute.MASKS:
        state.put("mask", kind)
        _begin_painting()


def _costs(board: Board, allowed: Mapping[str, Tensor]) -> None:
    t, spec, n = board.t, board.scene.trace.projections.spec, board.n
    rows, whole = [], attention_flops(spec, n_queries=n, n_keys=n)
    for kind, each in allowed.items():
        kept = int(each.sum())
        flops = attention_flops(spec, n_queries=n, n_keys=n, n_pairs=kept)
        rows.append(
            {
                t("masks.t_mask"): f"{'→ ' * (kind == board.mask.kind)}{t(f'masks.name_{kind}')}",
                t("masks.t_kept"): f"{kept} / {n * n}",
                t("masks.t_share"): f"{100 * kept / n**2:.1f} %",
                t("masks.t_blind"): int((~each.any(-1)).sum()),
                t("masks.t_layer"): f"{100 * flops.total / whole.total:.1f} %",
            }
        )
    st.dataframe(rows, hide_index=True)
    st.caption(t("masks.costs_note"))
