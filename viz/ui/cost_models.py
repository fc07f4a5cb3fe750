"""Real models on the Cost page: parameters, operations, keys and values kept, and attention's share over length."""

import streamlit as st

from viz.core.architectures import Sizes
from viz.core.model_cost import model_flops, model_kv_bytes, model_parameters, overtakes
from viz.figures.growth import Line, growth
from viz.models.presets import Preset, preset, presets
from viz.ui import state
from viz.ui.amounts import amount, share, size
from viz.ui.controls import KEEP
from viz.ui.layout import Scene, show

COLUMNS = ("model", "kind", "parameters", "flops", "share", "overtakes", "kv_token", "kv_text")


def _row(scene: Scene, one: Preset, n: int, chosen: str) -> dict[str, str]:
    flops, cross = model_flops(one.model, n_tokens=n), overtakes(one.model)
    cache = (size(model_kv_bytes(one.model, n_tokens=1)), size(model_kv_bytes(one.model, n_tokens=n)))
    spec = one.attention
    cells = (
        f"▸ {one.id}" if one.id == chosen else one.id, f"{spec.kind} {spec.H}/{spec.G}",
        amount(model_parameters(one.model).total), amount(flops.total // n), share(flops.attention_share),
        scene.t("cost.never") if cross is None else amount(cross),
        *(cache if one.model.decoder else (scene.t("cost.no_cache"),) * 2),
    )  # fmt: skip
    return dict(zip(COLUMNS, cells, strict=True))


def models(scene: Scene, s: Sizes) -> None:
    """Every configuration at this length; one of them drawn over all lengths."""
    t = scene.t
    names = [one.id for one in presets()]
    usual = scene.choice.source.model
    chosen = state.choice("cost_model", usual if usual in names else "gpt2", names)
    columns = {
        name: st.column_config.TextColumn(t(f"cost.m_{name}"), help=t(f"cost.m_{name}_help"), pinned=name == "model")
        for name in COLUMNS
    }
    rows = [_row(scene, one, s.n, chosen) for one in presets()]
    st.dataframe(rows, hide_index=True, height="content", column_config=columns, key="models")
    st.caption(t("cost.models_note", n=amount(s.n)))
    st.selectbox(t("cost.model"), names, key="cost_model", persist_state=KEEP)
    _share(scene, preset(chosen), s.n)


def _share(scene: Scene, one: Preset, n: int) -> None:
    t, cross = scene.t, overtakes(one.model)
    last = max(n, one.longest, 2 * (cross or 1)).bit_length()
    lengths = [2**power for power in range(last + 1)]
    at = {length: model_flops(one.model, n_tokens=length) for length in lengths}
    parts = ("projections", "pairs", "feed_forward", "output")
    lines = [
        Line(name=t(f"cost.share_{part}"), style=i, values={m: getattr(f, part) / f.total for m, f in at.items()})
        for i, part in enumerate(parts)
        if part != "output" or one.model.decoder
    ]
    both = {m: f.attention_share for m, f in at.items()}
    lines.append(Line(name=t("cost.share_attention"), style=4, values=both))
    marks = {one.longest: t("cost.longest", n=f"{one.longest:,}")}
    if cross is not None:
        marks[cross] = t("cost.overtakes", n=f"{cross:,}")
    says = t("cost.overtakes_says" if cross is not None else "cost.overtakes_never", model=one.id, n=amount(cross))
    st.markdown(says)
    show(
        growth(lines, size_title=t("cost.n"), value_title=t("cost.share_title"), marks=marks, share=True),
        key="share", alt=says,
    )  # fmt: skip
    st.caption(t("cost.preset_source", source=one.source))
