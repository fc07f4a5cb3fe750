"""The copying heads of the small decoders on the user's words, and their predictions with and without these heads."""

from collections.abc import Mapping, Sequence

import streamlit as st
import torch
from torch import Tensor

from pages.share_kv.context import ShareKvContext, map_pair
from pages.share_kv.trained import draw_trainings
from viz import limits
from viz.core.analysis.checks import sdpa_deviation
from viz.core.analysis.map_statistics import weight_at_offset
from viz.core.variants.kv_sharing import induction
from viz.frame import compute, shared, specs
from viz.frame.checks import Check, check
from viz.frame.scene import say_error
from viz.frame.shared import HEADS_OFF
from viz.frame.show import show_table
from viz.models.capture import Capture, Head
from viz.models.trained.twins import GROUPS, REPEATING, Recipe, twin_id, unknown
from viz.models.trained.twins import words as known_words
from viz.params import Choice, Scope
from viz.text import Translate

HEADS = Recipe.n_layers * Recipe.n_heads
MOST_LISTED = 20
"""Most unknown words to list."""
TWIN = Choice("twin", "2", among=tuple(map(str, GROUPS)))
WORDS = shared.WORDS.variant(default=REPEATING, longest=limits.CHARACTERS)
TWIN_OFF = HEADS_OFF.variant(high=HEADS - 1, scope=Scope("copying"))


def draw(context: ShareKvContext) -> list[Check]:
    """Draw the heads that copy, and the predictions of all three decoders with and without them."""
    t, picture = context.t, st.container()
    text = _text(t)
    sources = {g: specs.Source(kind="model", text=text, model=twin_id(g)) for g in GROUPS}
    try:
        captures = {g: compute.read(source) for g, source in sources.items()}
    except ValueError as error:
        say_error(t, error)
        return []
    twin = int(TWIN.segments(t("share_kv.twin"), says=lambda g: f"G = {g}"))
    best = {g: best_heads(seen) for g, seen in captures.items()}
    with picture:
        _maps(t, captures[twin], twin, best[twin])
    expected = st.container()
    off = _switched_off(t)
    with expected:
        _expected(t, captures, {g: compute.read(source, off) for g, source in sources.items()} if off else {}, best)
    with st.expander(t("share_kv.known", n=len(known_words()))):
        st.text(" ".join(sorted(known_words())))
    with st.expander(t("share_kv.trained")):
        trainings = draw_trainings(t, context.scene.choice.lang)
    return [*_checks(captures[twin], best[twin]), *trainings]


def _text(t: Translate) -> str:
    """Return the user's words, and list those that the decoders do not know."""
    text = WORDS.text_box(
        t("share_kv.words"), draw=st.text_input, max_chars=limits.CHARACTERS, help=t("share_kv.words_help")
    )
    if strange := unknown(text):
        more = " …" if len(strange) > MOST_LISTED else ""
        st.text(t("share_kv.unknown", words=" ".join(strange[:MOST_LISTED]) + more))
    return text


def _switched_off(t: Translate) -> frozenset[Head]:
    """Return the heads whose output is replaced by zero in all three."""
    label, help_text = t("share_kv.off"), t("share_kv.off_help")
    numbers = TWIN_OFF.pills(label, says=_name_of, help=help_text)
    return frozenset(divmod(number, Recipe.n_heads) for number in numbers)


def _name_of(number: int) -> str:
    return "·".join(map(str, divmod(number, Recipe.n_heads)))


Best = Mapping[str, tuple[Head, float]]


def best_heads(capture: Capture) -> Best:
    """Return the heads with the largest weight on the previous token and on the token after an earlier mention.

    Each with its mean weight; left out where the text has no such token.
    """
    ids = torch.tensor(capture.tokens.ids)
    maps = torch.stack([capture.layer(i).weights for i in range(capture.n_layers)])
    previous = weight_at_offset(maps, -1).mean(-1) if len(ids) > 1 else torch.zeros(maps.shape[:2])
    copying = torch.stack([induction(weights, ids) for weights in maps]).nan_to_num(0.0)
    candidates = {"previous": _best(previous), "induction": _best(copying)}
    return {name: best for name, best in candidates.items() if best[1] > 0}


def _best(values: Tensor) -> tuple[Head, float]:
    layer, head = divmod(int(values.argmax()), values.shape[1])
    return (layer, head), float(values[layer, head])


def _maps(t: Translate, capture: Capture, twin: int, best: Best) -> None:
    """Draw the two heads of one decoder."""
    n = min(len(capture.tokens.ids), limits.SHARED_TOKENS)
    if n < len(capture.tokens.ids):
        st.caption(t("share_kv.first", n=n))
    if len(capture.tokens.ids) > Recipe.length:
        st.caption(t("share_kv.long", n=len(capture.tokens.ids), length=Recipe.length))
    if not best:
        return
    titles = [t(f"share_kv.{name}_map", layer=layer, head=head, G=twin) for name, ((layer, head), _) in best.items()]
    maps = torch.stack([capture.layer(layer).weights[head] for (layer, head), _ in best.values()])
    map_pair(t, titles, maps[:, :n, :n], capture.tokens.labels[:n], key="twin_maps")


def _expected(
    t: Translate, captures: Mapping[int, Capture], without: Mapping[int, Capture], best: Mapping[int, Best]
) -> None:
    """Draw the next word and the two heads of every decoder; ``without`` is empty if no head is switched off."""
    table: dict[str, Sequence[str | int]] = {"G": list(captures)}
    for suffix, variant in (("", captures), ("_off", without)):
        if variant:
            guesses = [capture.predictions[0] for capture in variant.values()]
            table[t(f"share_kv.x_next{suffix}")] = [guess.labels[0] for guess in guesses]
            table[t(f"share_kv.x_p{suffix}")] = [f"{guess.probabilities[0]:.3f}" for guess in guesses]
    for name in ("previous", "induction"):
        heads = (best[g].get(name) for g in captures)
        table[t(f"share_kv.x_{name}")] = [_head_with_weight(there) if there else "—" for there in heads]
    show_table(table)
    st.caption(t("share_kv.expected_note"))


def _head_with_weight(best: tuple[Head, float]) -> str:
    (layer, head), weight = best
    return f"{layer}·{head}: {weight:.2f}"


def mean_weight_by_hand(weights: list[list[float]], ids: tuple[int, ...], name: str) -> float:
    """Return a head's mean weight on the previous token, or on followers of earlier mentions, pair by pair."""
    if name == "previous":
        rows = [weights[i][i - 1] for i in range(1, len(ids))]
    else:
        followers = [[j + 1 for j in range(i) if ids[j] == token] for i, token in enumerate(ids)]
        rows = [sum(weights[i][j] for j in keys) for i, keys in enumerate(followers) if keys]
    return sum(rows) / len(rows)


def _checks(capture: Capture, best: Best) -> list[Check]:
    """Check the heads whose maps are on the page."""
    checks = []
    for name, ((layer, head), weight) in best.items():
        trace = capture.multi_head(layer)
        by_hand = mean_weight_by_hand(trace.weights[head].tolist(), capture.tokens.ids, name)
        options = capture.calls[layer].options
        checks += [
            check("share_kv.check_twin", *sdpa_deviation(trace, **options), layer=layer),
            check(f"share_kv.check_{name}", abs(by_hand - weight), 1e-5, layer=layer, head=head),
        ]
    return checks
