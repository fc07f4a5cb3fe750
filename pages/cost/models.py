"""Real models: attention's share of the work over the length, and parameters, work and cache at the chosen one."""

from fractions import Fraction
from math import ceil

import streamlit as st

from pages.cost import recount
from pages.cost.context import CostContext, draw_sizes
from pages.cost.growth import COUNTED_TOKENS
from viz.core.cost.model import ModelSpec, model_flops, model_kv_bytes, model_parameters, overtakes
from viz.figures.growth import Line, growth
from viz.frame.checks import Check, check
from viz.frame.format import amount, share
from viz.frame.modes import say
from viz.frame.shared import LANG, Options
from viz.frame.show import show_lines, show_table
from viz.models.presets import Preset, preset, presets
from viz.models.recount.published import preset_sizes, published_bytes
from viz.params import Choice
from viz.text import Translate
from viz.text.citations import translate_source
from viz.text.sizes import size

COLUMNS = ("model", "kind", "parameters", "flops", "share", "overtakes", "kv_token", "kv_text")
PARTS = ("projections", "pairs", "feed_forward", "output")

COST_MODEL = Choice("cost_model", lambda codes: codes.first, among=lambda codes: codes.among)


def draw(context: CostContext) -> list[Check]:
    """One configuration over all lengths, then every configuration at this one."""
    t, n, picture = context.t, context.sizes.n, st.container()
    draw_sizes(context)
    names = [preset.id for preset in presets()]
    default = context.scene.choice.source.model
    selected = COST_MODEL.selectbox(t("cost.model"), Options(names, default if default in names else "gpt2"), width=300)
    with picture:
        _share(t, preset(selected), n)
    columns = {
        name: st.column_config.TextColumn(t(f"cost.m_{name}"), help=t(f"cost.m_{name}_help"), pinned=name == "model")
        for name in COLUMNS
    }
    rows = [_row(t, preset, n, selected) for preset in presets()]
    show_table(rows, height="content", column_config=columns, key="models")
    st.caption(t("cost.models_note", n=amount(n)))
    return _checks(preset(selected), n)


def _share(t: Translate, preset: Preset, n: int) -> None:
    """Draw each part's share of all operations over the length of the text."""
    cross = overtakes(preset.model)
    last = max(n, preset.longest, 2 * (cross or 1)).bit_length()
    at = {length: model_flops(preset.model, n_tokens=length) for length in (2**power for power in range(last + 1))}
    lines = [
        Line(name=t(f"cost.share_{part}"), style=i, values={m: getattr(f, part) / f.total for m, f in at.items()})
        for i, part in enumerate(PARTS)
        if part != "output" or preset.model.decoder
    ]
    both = {m: flops.attention_share for m, flops in at.items()}
    lines.append(Line(name=t("cost.share_attention"), style=4, values=both))
    if cross is not None:
        flops = model_flops(preset.model, n_tokens=cross)
        dot = {cross: flops.attention_share}
        lines.append(Line(name=t("cost.meets_feed_forward"), style=4, points=True, values=dot))
    fig = growth(
        lines,
        size_title=t("cost.n"),
        value_title=t("cost.share_title"),
        marks={preset.longest: t("cost.longest", n=amount(preset.longest))},
        share=True,
        height=350,
    )
    when = "never" if cross is None else "always" if cross == 1 else "says"
    sentence = t(f"cost.overtakes_{when}", model=preset.id, n=amount(cross))
    show_lines(fig, key="share", alt=sentence)
    say(sentence)
    st.caption(t("cost.preset_source", source=translate_source(LANG.value, preset.source)))


def _row(t: Translate, preset: Preset, n: int, selected: str) -> dict[str, str]:
    flops, cross, spec = model_flops(preset.model, n_tokens=n), overtakes(preset.model), preset.attention
    cache = (size(model_kv_bytes(preset.model, n_tokens=1)), size(model_kv_bytes(preset.model, n_tokens=n)))
    cells = (
        f"▸ {preset.id}" if preset.id == selected else preset.id,
        f"{spec.kind} {spec.H}/{spec.G}",
        amount(model_parameters(preset.model).total),
        amount(flops.total // n),
        share(flops.attention_share),
        t("cost.never") if cross is None else amount(cross),
        *(cache if preset.model.decoder else (t("cost.no_cache"),) * 2),
    )
    return dict(zip(COLUMNS, cells, strict=True))


def _checks(selected: Preset, n: int) -> list[Check]:
    """The chosen model against torch's own modules; the caches of all against tensors of their shapes."""
    model, n_tokens = selected.model, COUNTED_TOKENS
    work = model_flops(model, n_tokens=n_tokens).total - recount.model_flops(model, n_tokens)
    weights = model_parameters(model).total - recount.model_parameters(model)
    pairs = zip(presets(), preset_sizes(), strict=True)
    caches = max(abs(model_kv_bytes(preset.model, n_tokens=n) - published_bytes(sizes, n)) for preset, sizes in pairs)
    cross, solved = overtakes(model), _overtakes_by_formula(model)
    off = abs(cross - solved) if cross and solved else float(cross != solved)
    return [
        check("cost.check_model_parameters", abs(weights), 0, model=selected.id),
        check("cost.check_model_flops", abs(work), 0, model=selected.id, n=n_tokens),
        check("cost.check_cache", caches, 0, n=amount(n)),
        check("cost.check_overtakes", off, 0),
    ]


def _overtakes_by_formula(m: ModelSpec) -> int | None:
    """The length from which attention takes as much as the feed-forward layers: n L = (F - P) / (2 H d_k), solved.

    Beyond its window a layer takes no more: there W for each of them stands in place of n.
    """
    a, near = m.attention, m.windowed_layers
    projections = a.d_model * (a.H + a.G) * (a.d_k + a.d_v)
    feed_forward = (3 if m.gated else 2) * a.d_model * m.d_ff
    missing = Fraction(m.n_layers * (feed_forward - projections), a.H * (a.d_k + a.d_v))
    inside = max(1, ceil(missing / m.n_layers))
    if m.window is None or inside <= m.window:
        return inside
    return ceil((missing - near * m.window) / (m.n_layers - near)) if near < m.n_layers else None
