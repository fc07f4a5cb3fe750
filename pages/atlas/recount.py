"""One head's score on one text, once more: the model run on that text alone, torch's own weights, sums in NumPy."""

import re
from collections.abc import Sequence
from unicodedata import category

import numpy as np
import torch

from pages.atlas import compute
from viz import limits
from viz.core.analysis.checks import sdpa_weights
from viz.core.analysis.window_fit import ROWS, fit_windows
from viz.frame.compute import cached, model, read
from viz.frame.specs import Source
from viz.models.atlas.copying import read_by_heads
from viz.models.blocks import find_block_layout
from viz.models.capture import Capture, capture, capture_tokens
from viz.models.interventions import replaced
from viz.models.layout import linear
from viz.models.stream import blocks_of, logits_of, normalize
from viz.models.tokens import Tokens, labels, read_text

Flags = Sequence[bool]


@cached
def on_line(source: Source, name: str, layer: int, head: int, most: int = limits.TOKENS) -> float:
    """A score of a sentence, of its first tokens at most; NaN where it has nothing to score."""
    text = _beginning(source, most)
    weights = _weights(text, layer, head)
    return explained_share(weights, is_causal(source.model)) if name == "window" else score(name, weights, text.tokens)


def is_causal(model_id: str) -> bool:
    """Return whether the model's attention is causal."""
    return model(model_id).layers[0].layout.stack == "decoder"


@cached
def on_word(model_id: str, number: int, layer: int, head: int) -> float:
    """Share of the other words that a head raises less than a word itself, in float64."""
    loaded_model, words = model(model_id), list(compute.word_ids(model_id))
    layout = find_block_layout(loaded_model, "decoder", of_stream=True)
    weights = capture(loaded_model, "a").calls[layer].projections
    block = blocks_of(loaded_model)[layer]
    with torch.inference_mode():
        x = read_by_heads(block, layout, loaded_model.embeddings([words[number]]))[0].double().numpy()
        group = head * weights.spec.G // weights.spec.H
        w_v = weights.w_v.double().numpy().reshape(len(x), weights.spec.G, -1)[:, group]
        w_o = weights.w_o.double().numpy().reshape(weights.spec.H, w_v.shape[1], -1)[head]
        output = normalize(loaded_model, torch.tensor((x @ w_v) @ w_o).float()[None])[0].double().numpy()
        logits = linear(loaded_model.model.get_output_embeddings())[0][:, words].double().numpy().T @ output
    return float(np.sum(logits < logits[number]) / (len(words) - 1))


@cached
def without_head(source: Source, layer: int, head: int, most: int = limits.TOKENS) -> float:
    """Increase of the next-token loss without a head: two full runs of the model, summed in NumPy."""
    loaded_model, tokens = model(source.model), _beginning(source, most).tokens
    nothing = {layer: replaced([head], torch.zeros(1, 1, 1))}
    losses = []
    for edits in (None, nothing):
        logits = logits_of(loaded_model, tokens.ids, edits).double().numpy()
        chances = (
            logits
            - np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1, keepdims=True))
            - logits.max(-1, keepdims=True)
        )
        losses.append(-np.mean([chances[i, token] for i, token in enumerate(tokens.ids[1:])]))
    return float(losses[1] - losses[0])


def explained_share(weights: np.ndarray, causal: bool) -> float:
    """Share of a map explained by its fitted window, from centre and sharpness, in NumPy."""
    n = len(weights)
    may = np.tril(np.ones((n, n), dtype=bool)) if causal else np.ones((n, n), dtype=bool)
    fit = fit_windows(torch.from_numpy(weights)[None].float(), torch.from_numpy(may))
    rows = torch.linspace(0, n - 1, min(n, ROWS)).round().long().numpy()
    apart = np.arange(n) - rows[:, None] - float(fit.offset)
    window = np.where(
        may[rows],
        np.exp(-float(fit.alpha) * (apart**2 - np.where(may[rows], apart**2, np.inf).min(-1, keepdims=True))),
        0,
    )
    window /= window.sum(-1, keepdims=True)
    even = may[rows] / may[rows].sum(-1, keepdims=True)
    actual = weights[rows]
    return float(max(0.0, 1 - np.sum((actual - window) ** 2) / max(np.sum((actual - even) ** 2), 1e-12)))


@cached
def on_random_tokens(model_id: str, number: int, name: str, layer: int, head: int) -> float:
    """A score of random tokens that are repeated."""
    ids, special = compute.random_ids(model_id, number)
    token_labels = labels(model(model_id).tokenizer, list(ids))
    tokens = Tokens(ids=ids, labels=token_labels, special=special, words=tuple(range(len(ids))))
    text = capture_tokens(model(model_id), tokens)
    return score(name, _weights(text, layer, head), tokens)


def _beginning(source: Source, most: int) -> Capture:
    """A text as its model reads it, of so many tokens at most."""
    text, loaded_model = read(source), model(source.model)
    if len(text.tokens.ids) <= most:
        return text
    return capture_tokens(loaded_model, read_text(loaded_model.tokenizer, source.text, most))


def _weights(text: Capture, layer: int, head: int) -> np.ndarray:
    call = text.calls[layer]
    with torch.inference_mode():
        return sdpa_weights(call.q, call.k, **call.options)[head].nan_to_num(0).double().numpy()


def score(name: str, weights: np.ndarray, tokens: Tokens) -> float:
    """One of the shares, the entropy or the distance, from a head's weights (T, T), cell by cell."""
    n, ids, special = len(tokens.ids), tokens.ids, tokens.special
    if name == "entropy":
        return float(-np.sum(weights[weights > 0] * np.log(weights[weights > 0])) / n)
    if name == "distance":
        return float(sum(weights[i, j] * abs(i - j) for i in range(n) for j in range(n)) / n)
    # Not separators for separators, nor the first token for itself.
    rows = [i for i in range(n) if {"first": i > 0, "separators": not (special[i] and i > 0)}.get(name, True)]
    keys = {i: [j for j in range(n) if _counts_key(name, i, j, ids, special, tokens.labels)] for i in rows}
    scored_rows = [i for i in rows if _has_target(name, weights[i], keys[i])]
    if not scored_rows:
        return float("nan")
    return float(sum(weights[i, j] for i in scored_rows for j in keys[i]) / len(scored_rows))


def _has_target(name: str, row: np.ndarray, keys: list[int]) -> bool:
    """Return whether a row has a target; for punctuation, one that its mask leaves visible."""
    reachable = [j for j in keys if row[j] > 0] if name == "punctuation" else keys
    return bool(reachable)


def _counts_key(name: str, i: int, j: int, ids: Sequence[int], special: Flags, token_labels: Sequence[str]) -> bool:
    """Return whether a score counts this key."""
    plain = not special[i] and not special[j]
    by_name = {
        "previous": j == i - 1,
        "next": j == i + 1,
        "itself": j == i,
        "first": j == 0,
        "separators": special[j] and j > 0,
        "punctuation": plain and _is_sign(token_labels[j]) and not _is_sign(token_labels[i]),
        "same": plain and i != j and ids[i] == ids[j],
        "duplicate": j < i and ids[i] == ids[j],
        "induction": 0 < j <= i and ids[j - 1] == ids[i],
    }
    return bool(by_name[name])


def _is_sign(label: str) -> bool:
    letters = label.removeprefix("##").strip("▁␣Ġ↵⇥ ")
    if re.search(r"[^₀-₉]", letters):
        letters = re.sub(r"[₀-₉]+$", "", letters)  # the number of a piece of a letter
    is_vowel = letters.startswith("◌") and any(
        category(sign) in ("Mn", "Mc") and ord(sign) not in range(0xFE00, 0xFE10) for sign in letters
    )
    return letters != "" and not is_vowel and all(not letter.isalnum() for letter in letters)
