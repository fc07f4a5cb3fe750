"""Cached references for random single parts of the page: a row, a head, a layer."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn.functional import linear

from pages.next_word import compute
from pages.next_word.compute_checks import possible_ranks
from viz.core.analysis.checks import largest, random_place
from viz.frame.compute import cached, model, read
from viz.frame.specs import Source
from viz.models.layout import LoadedModel
from viz.models.recount.own_attention import has_own_attention, own_heads, own_map, twin
from viz.models.stream import final_norm, logit_cap, logit_scale, through_w_o

Cell = tuple[int, int]


def own_states(source: Source, n: int) -> tuple[Tensor, ...]:
    """Return a model's own states of the first n tokens, (n, d_model), from transformers: before each layer."""
    states = read(source).states.get("decoder")
    if states is not None:
        return tuple(state[:n] for state in states)
    ids = torch.tensor([compute.tokens_of(source).ids[:n]])
    with torch.inference_mode():
        run = model(source.model).model.base_model(
            input_ids=ids, use_cache=False, output_hidden_states=True, return_dict=True
        )
    return tuple(state[0] for state in run.hidden_states)


def _normalized(loaded_model: LoadedModel, x: Tensor) -> Tensor:
    """Apply the final norm to a vector in float64, from its numbers alone."""
    weights, centred = final_norm(loaded_model)
    x = x.double()
    x = x - x.mean() if centred else x
    normed = x / (x.square().mean() + weights.eps).sqrt() * weights.gain.double()
    return normed if weights.shift is None else normed + weights.shift.double()


def _words(loaded_model: LoadedModel, normed: Tensor) -> Tensor:
    """Return the logits of all words from one normalised vector, (V,)."""
    head = loaded_model.model.get_output_embeddings()
    with torch.inference_mode():
        logits = linear(normed.float(), head.weight, head.bias) * logit_scale(loaded_model)
    return torch.tanh(logits / cap) * cap if (cap := logit_cap(loaded_model)) else logits


@cached
def lens_row(source: Source, word: int, level: int, at: int) -> tuple[int, float, float, int, int]:
    """Return a level's predictions at one token from the model's own state: best word, chances, and the word's rank.

    The chances are of the best and of the followed word; the rank lies between the two numbers at the end,
    which differ where rounding leaves it open.
    """
    loaded_model = model(source.model)
    logits = _words(loaded_model, _normalized(loaded_model, own_states(source, at + 1)[level][at]))
    likely = logits.double().softmax(-1)
    best, (low, high) = int(likely.argmax()), possible_ranks(logits, word)
    return best, float(likely[best]), float(likely[word]), int(low), int(high)


def _share_at_fixed_scale(
    loaded_model: LoadedModel, final: Tensor, vector: Tensor, words: Sequence[int]
) -> tuple[float, float]:
    """Return a vector's share of a logit, or a difference, at a fixed scale of the final norm, and its size."""
    weights, centred = final_norm(loaded_model)
    table = loaded_model.model.get_output_embeddings().weight.detach()
    read = (table[words[0]].double() - sum(table[word].double() for word in words[1:])) * logit_scale(loaded_model)
    vector, final = vector.double(), final.double()
    if centred:
        vector, final = vector - vector.mean(), final - final.mean()
    terms = vector * weights.gain.double() / (final.square().mean() + weights.eps).sqrt() * read
    return float(terms.sum()), float(terms.abs().sum())


def random_part(source: Source, at: int, n_layers: int, n_heads: int) -> tuple[int, int, int]:
    """Return a random head's layer and number, and the layer of a random feed-forward network."""
    names = (source, at)
    return (
        random_place(n_layers, names, "layer"),
        random_place(n_heads, names, "head"),
        random_place(n_layers, names, "feed forward"),
    )


@cached
def head_part(source: Source, at: int, words: tuple[int, ...], layer: int, head: int) -> float | None:
    """Return one head's contribution to a logit from its output and its layer's W_O; None without an attention."""
    loaded_model = model(source.model)
    if not has_own_attention(loaded_model):
        return None
    alone = own_heads(loaded_model, read(source), layer)[1][at].clone()
    together = through_w_o(loaded_model, layer, alone[None])[0]
    w_o = twin(loaded_model).layers[layer].output
    with torch.inference_mode():
        full = w_o(alone.flatten()[None])[0]
        alone[[i for i in range(len(alone)) if i != head]] = 0.0
        contribution = w_o(alone.flatten()[None])[0] - w_o(torch.zeros_like(alone).flatten()[None])[0]
    # A norm (Gemma 2) or a scale (Granite) follows attention.
    if not torch.allclose(together, full, rtol=1e-4, atol=1e-5 * largest(full)):
        contribution = contribution * (together / full).nan_to_num(1.0)
    return _share_at_fixed_scale(loaded_model, compute.stream(source).states[-1, at], contribution, words)[0]


@cached
def feed_forward_part(source: Source, at: int, words: tuple[int, ...], layer: int) -> tuple[float, float] | None:
    """Return one feed-forward network's contribution: its layer's less its attention's; and the tolerance.

    A difference of large states has a larger rounding error than its result suggests.
    """
    loaded_model = model(source.model)
    if not has_own_attention(loaded_model):
        return None
    final, states = compute.stream(source).states[-1, at], own_states(source, at + 1)
    before, after = states[layer][at], final if layer == len(states) - 2 else states[layer + 1][at]
    attention = through_w_o(loaded_model, layer, own_heads(loaded_model, read(source), layer)[1][at][None])[0]
    added, _ = _share_at_fixed_scale(loaded_model, final, after.double() - before.double() - attention.double(), words)
    size = max(_share_at_fixed_scale(loaded_model, final, part, words)[1] for part in (before, after, attention))
    return added, 1e-4 + 4e-6 * size


@cached
def head_score(source: Source, name: str, layer: int, head: int) -> float | None:
    """Return a head's mean weight on the previous token, or after earlier mentions, on random tokens, cell by cell."""
    loaded_model, ids = model(source.model), compute.random_tokens(source.model).ids
    if not has_own_attention(loaded_model):
        return None
    weights, n = own_map(loaded_model, ids, layer, head).double().numpy(), len(ids)
    if name == "previous":
        return float(sum(weights[i, i - 1] for i in range(1, n)) / (n - 1))
    rows = {i: [j + 1 for j in range(i) if ids[j] == ids[i]] for i in range(n)}
    row_sums = [sum(weights[i, j] for j in keys) for i, keys in rows.items() if keys]
    return float(sum(row_sums) / len(row_sums))
