"""The sidebar every page shares: language, source, text, model or seeds, mask."""

import time
import tomllib
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

import streamlit as st

from viz.core.masks import from_code
from viz.models import registry
from viz.models.layout import LoadedModel
from viz.models.registry import ModelError
from viz.text import LANGUAGES, Translate, translator
from viz.ui import compute, limits, state

SOURCES = ("model", "embeddings", "words")
SHARING = "share-kv"
"""The path of the page that has the control for G beside its picture."""
NO_MASK_HERE = ("masks", "cost")
"""The paths of the pages that have the control for the mask beside their picture, or nothing to mask."""
NOT_ONE_LAYER = ("positions", "stacking", "cost")
"""The paths of the pages that are about the first layer, all of them, or none: a choice would do nothing there."""
MOMENT = 10
"""Seconds after which the disk is asked again which models there are."""

KEEP: Final = "session"  # persist_state: a control keeps its value when the visitor changes pages


@dataclass(frozen=True, kw_only=True)
class Example:
    """A sentence to start from, or two, and what to look for: ``target`` asks, where there are two.

    ``query`` is the token that is locked in the head grid until the visitor chooses another.
    """

    code: str
    lang: str
    text: str
    why: dict[str, str]
    target: str = ""
    query: str = ""


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What the sidebar says: small values only, so that it may be kept and compared."""

    lang: str
    source: compute.Source
    layer: int
    mask: compute.Mask
    dropped_characters: int


@cache
def _examples(name: str) -> tuple[Example, ...]:
    with (Path(__file__).parents[2] / "assets" / f"{name}.toml").open("rb") as file:
        return tuple(Example(**example) for example in tomllib.load(file)["example"])


def examples() -> tuple[Example, ...]:
    """The sentences of ``assets/examples.toml``, the default one first."""
    return _examples("examples")


def pairs() -> tuple[Example, ...]:
    """The pairs of ``assets/pairs.toml``, one to ask and one to answer, the default one first."""
    return _examples("pairs")


def language() -> Translate:
    """Choose the interface's language; at first the browser's."""
    locale = st.context.locale or ""
    lang = state.choice("lang", "zh" if locale.lower().startswith("zh") else "en", tuple(LANGUAGES))
    t = translator(lang)
    st.segmented_control(
        t("sidebar.language"), list(LANGUAGES), format_func=lambda code: LANGUAGES[code], key="lang", required=True,
        persist_state=KEEP, label_visibility="collapsed",
    )  # fmt: skip
    return t


def _take_example() -> None:
    chosen = st.session_state["_example"]
    if chosen is not None:
        state.put("text", next(example.text for example in examples() if example.code == chosen))
        st.session_state["_example"] = None


def _text(t: Translate, lang: str) -> tuple[str, int]:
    text = state.text("text", examples()[0].text, limits.CHARACTERS)
    st.text_area(t("sidebar.text"), key="text", height=110, persist_state=KEEP, help=t("sidebar.text_help"))
    by_code = {example.code: example for example in examples()}
    st.selectbox(
        t("sidebar.examples"), list(by_code), index=None, key="_example", on_change=_take_example,
        placeholder=t("sidebar.examples_placeholder"), label_visibility="collapsed",
        format_func=lambda code: f"{by_code[code].text} · {by_code[code].why[lang]}",
    )  # fmt: skip
    return text[: limits.CHARACTERS], max(0, len(text) - limits.CHARACTERS)


def _available(entry: registry.Entry) -> bool:
    """In memory already (its files may be gone since), on this machine, or to be had from the hub."""
    if compute.models.holds(entry.id):
        return True
    return entry.local_folder() is not None or registry.hub().reachable


def _offered() -> tuple[registry.Entry, ...]:
    """The list of models, as far as whoever runs the server wants it and has the memory."""
    wanted = [one for one in registry.entries() if not limits.MODELS or one.id in limits.MODELS]
    return *compute.local_entries(), *(one for one in wanted if 4 * one.parameters <= limits.MODELS_BYTES)


@lru_cache(maxsize=1)
def _on_this_machine(_moment: int) -> frozenset[str]:
    """Names of the models that can be had; one moment, one look, which takes 3 ms."""
    return frozenset(entry.id for entry in _offered() if _available(entry))


def _model(t: Translate, lang: str) -> str:
    known, had = _offered(), _on_this_machine(int(time.monotonic() / MOMENT))
    here = [entry for entry in known if entry.id in had]
    away = [entry for entry in known if entry not in here]
    names = {entry.id: entry for entry in here}
    default = compute.local_entries()[0].id if compute.local_entries() else compute.DEFAULT_MODEL
    model = state.choice("model", default if default in names else next(iter(names), default), list(names))
    st.selectbox(
        t("sidebar.model"), list(names), key="model", persist_state=KEEP,
        help=names[model].why.get(lang) if model in names else None,
    )  # fmt: skip
    if away:
        with st.expander(t("sidebar.more_models", n=len(away))):
            st.caption(t("sidebar.offline"))
            for entry in away:
                st.caption(
                    f"**{entry.id}** · {entry.parameters / 1e6:.0f} M · {entry.size_mb:.0f} MB · {entry.licence}  \n"
                    + entry.why.get(lang, "")
                )
    return model


def _loaded(t: Translate, model: str) -> LoadedModel:
    """The model; while it is being loaded, the page says so."""
    # The spinner starts a thread: not in every run.
    with nullcontext() if compute.models.holds(model) else st.spinner(t("sidebar.loading")):
        return compute.model(model)


def _layer(t: Translate, n_layers: int, page: str) -> int:
    layer = state.whole("layer", 3, 0, n_layers - 1)
    if page in NOT_ONE_LAYER:
        return 0
    if n_layers > 1:
        st.slider(t("sidebar.layer"), 0, n_layers - 1, key="layer", persist_state=KEEP, help=t("sidebar.layer_help"))
    return layer


def _seeded(t: Translate, d_model: int | None, page: str) -> dict[str, int]:
    if d_model is None:
        d_model = state.pick("d_model", 16, limits.WIDTHS)
        st.select_slider("d_model", limits.WIDTHS, key="d_model", persist_state=KEEP, help=t("sidebar.d_model_help"))
    heads = [n for n in range(1, limits.SEEDED_HEADS + 1) if d_model % n == 0]
    n_heads = state.pick("n_heads", 4 if 4 in heads else heads[-1], heads)
    st.select_slider(t("sidebar.n_heads"), heads, key="n_heads", persist_state=KEEP)
    groups = [n for n in range(1, n_heads + 1) if n_heads % n == 0]
    n_kv_heads = state.pick("n_kv_heads", groups[len(groups) // 2] if page == SHARING else n_heads, groups)
    if len(groups) > 1 and page != SHARING:
        st.select_slider(
            t("sidebar.n_kv_heads"), groups, key="n_kv_heads", persist_state=KEEP, help=t("sidebar.n_kv_heads_help")
        )
    seed = state.whole("seed", 0, 0, 9_999)
    st.number_input(t("sidebar.seed"), 0, 9_999, key="seed", persist_state=KEEP, help=t("sidebar.seed_help"))
    return {"d_model": d_model, "n_heads": n_heads, "n_kv_heads": n_kv_heads, "seed": seed}


def _mask() -> compute.Mask:
    """The mask of the link, with those of its parameters that matter to its kind."""
    kind = state.choice("mask", "own", compute.MASKS)
    details: dict[str, Any] = {}
    if kind in ("window", "dilated", "prefix"):
        details["width"] = state.whole("width", 2, 0, 32)
    if kind == "dilated":
        details["gap"] = state.whole("gap", 2, 1, 16)
    if kind in ("padding", "both"):
        details |= {"pad": state.whole("pad", 3, 0, 32), "pad_left": state.flag("pad_left")}
    if kind == "painted":
        details["painted"] = state.param("painted", "", str, _is_painted)
    return compute.Mask(kind=kind, **details)


def _is_painted(code: str) -> bool:
    """Nothing painted yet, or a mask that is not too large."""
    try:
        return code == "" or len(from_code(code)) <= limits.PAINTED_TOKENS
    except ValueError:
        return False


def mask_details(t: Translate, kind: str) -> None:
    """The controls that a kind of mask has beside its name."""
    if kind in ("window", "dilated", "prefix"):
        st.slider(t(f"sidebar.width_{kind}"), 0, 32, key="width", persist_state=KEEP)
    if kind == "dilated":
        st.slider(t("sidebar.gap"), 1, 16, key="gap", persist_state=KEEP)
    if kind in ("padding", "both"):
        st.slider(t("sidebar.pad"), 0, 32, key="pad", persist_state=KEEP, help=t("sidebar.pad_help"))
        st.toggle(t("sidebar.pad_left"), key="pad_left", persist_state=KEEP, help=t("sidebar.pad_left_help"))


def _mask_controls(t: Translate, kind: str) -> None:
    st.selectbox(
        t("sidebar.mask"), compute.MASKS, key="mask", persist_state=KEEP, help=t("sidebar.mask_help"),
        format_func=lambda code: t(f"mask.{code}"),
    )  # fmt: skip
    mask_details(t, kind)
    if kind == "painted":
        st.caption(t("sidebar.painted", n=limits.PAINTED_TOKENS))


def sidebar(t: Translate, page: str = "") -> Choice:
    """Draw the sidebar of the page with this path, and say what was chosen.

    Raises:
        ModelError: if the chosen model cannot be used.
    """
    lang = st.session_state["lang"]
    kind = state.choice("source", SOURCES[0], SOURCES)
    st.radio(
        t("sidebar.source"), SOURCES, key="source", persist_state=KEEP, format_func=lambda code: t(f"source.{code}"),
        captions=[t(f"source.{code}_short") for code in SOURCES],
    )  # fmt: skip
    text, dropped = _text(t, lang)
    model, layer = "", 0
    sizes: dict[str, Any] = {}
    if kind != "words":
        model = _model(t, lang)
        loaded = _loaded(t, model)
        if kind == "model":
            layer = _layer(t, loaded.n_layers, page)
        else:
            sizes = _seeded(t, loaded.model.config.hidden_size, page) | {"d_model": 0}
    else:
        sizes = _seeded(t, None, page)
    mask = _mask()
    if page not in NO_MASK_HERE:
        _mask_controls(t, mask.kind)
    return Choice(
        lang=lang, layer=layer, mask=mask, dropped_characters=dropped,
        source=compute.Source(kind=kind, text=text, model=model, **sizes),
    )  # fmt: skip


__all__ = ["Choice", "ModelError", "examples", "language", "pairs", "sidebar"]
