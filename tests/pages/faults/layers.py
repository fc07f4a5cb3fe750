"""Mistakes in what is shared, in two sequences, in blocks and in stacks."""

from dataclasses import replace

import torch

from tests.pages.faults.fault import Fault
from viz.core import feed_forward, norm, stack, sublayer
from viz.core.analysis import (
    receptive_field,
    rollout,
    token_similarity,
)
from viz.core.cost import attention as cost
from viz.core.variants import decoding, general_heads, kv_sharing, scoring
from viz.models import generation

FAULTS = {
    # Sharing
    "a cache that counts H for G": Fault(
        function=cost.kv_cache_bytes,
        wrong=lambda right, spec, **o: right(replace(spec, n_kv_heads=spec.H), **o),
        places=("growing cache", "savings", "published"),
    ),
    "parameters that do not share": Fault(
        function=cost.parameters,
        wrong=lambda right, spec, **o: right(replace(spec, n_kv_heads=spec.H), **o),
        places=("savings",),
    ),
    "a cache that has lost its first token": Fault(
        function=kv_sharing.decode_step,
        wrong=lambda right, q, k, v, **o: right(
            q, k[:, -max(1, k.shape[1] - 1) :], v[:, -max(1, v.shape[1] - 1) :], **o
        ),
        places=("growing cache", "decoding", "speed"),
    ),
    "a sum for the mean of a group": Fault(
        function=kv_sharing.pool_heads,
        wrong=lambda right, x, n: right(x, n) * (len(x) // n),
        places=("converted",),
    ),
    "a newcomer that takes twice": Fault(
        function=decoding.weight_taken_by_new_token, wrong=lambda right, scores: 2 * right(scores), places=("decoding",)
    ),
    "a head credited with what its token itself gets": Fault(
        function=kv_sharing.induction,
        wrong=lambda _, w, ids: w.diagonal(0, -2, -1).mean(-1),
        places=("copying", "small decoders"),
    ),
    # Two sequences
    "additive scoring without tanh": Fault(
        function=scoring.additive,
        wrong=lambda _, q, k, w: ((q @ w.w_q)[..., :, None, :] + (k @ w.w_k)[..., None, :, :]) @ w.w_v,
        places=("scoring", "both kinds"),
    ),
    "a scaled product that is not scaled": Fault(
        function=scoring.scaled_dot, wrong=lambda _, q, k: q @ k.mT, places=("scoring", "both kinds")
    ),
    "heads of both kinds without their mask": Fault(
        function=general_heads.general_heads,
        wrong=lambda right, *a, **o: right(*a, **o | {"allowed": None}),
        places=("both kinds",),
    ),
    "both kinds laid side by side the other way round": Fault(
        function=general_heads.general_heads,
        wrong=lambda right, q, k, v, heads, w_o, **o: right(q, k, v, heads, w_o.roll(1, 0), **o),
        places=("both kinds",),
    ),
    "rows that were written without the last key": Fault(
        function=generation._stitch,
        wrong=lambda right, rows, stack: right([row.roll(1, -1) for row in rows], stack),
        places=("translation",),
    ),
    # Blocks
    "a norm with the unbiased deviation": Fault(
        function=norm.standardize,
        wrong=lambda right, x, *, eps=0.0: right(x, eps=eps) * ((x.shape[-1] - 1) / x.shape[-1]) ** 0.5,
        places=("points", "norm place", "diagram", "diagram, a model", "parts off"),
    ),
    "post for pre": Fault(
        function=sublayer.post_norm,
        wrong=lambda _, *a, **o: sublayer.pre_norm(*a, **o),
        places=("norm place", "diagram", "diagram, a model", "parts off", "rollout, a model"),
    ),
    "no residual": Fault(
        function=sublayer.post_norm,
        wrong=lambda right, *a, residual: right(*a, residual=False),
        places=("diagram", "diagram, a model", "norm place", "parts off"),
    ),
    "no bias in the feed-forward layer": Fault(
        function=feed_forward.feed_forward,
        wrong=lambda right, x, w, **o: right(x, replace(w, b_in=None), **o),
        places=("diagram, a model", "rollout, a model"),
    ),
    "no activation": Fault(
        function=feed_forward.feed_forward,
        wrong=lambda right, x, w, **o: right(x, w, activation=lambda u: u),
        places=("diagram", "diagram, a model", "norm place", "parts off"),
    ),
    "a stack whose layers all read the words": Fault(
        function=stack.stack,
        wrong=lambda right, x, weights, **o: tuple(
            right(x, weights[i : i + 1], **o | {"attentions": o["attentions"] and o["attentions"][i : i + 1]})[0]
            for i in range(len(weights))
        ),
        places=("parts off", "rollout, a model"),
    ),
    "the unbiased deviation shown": Fault(
        function=norm.moments,
        wrong=lambda right, x: replace(right(x), std=x.std(-1)),
        places=("points",),
    ),
    # Stacks
    "rollout the other way round": Fault(
        function=rollout.rollout, wrong=lambda right, mixed: right(mixed.flip(0)), places=("rollout",)
    ),
    "rollout without the residual's half": Fault(
        function=rollout.with_residual, wrong=lambda _, weights: weights.mean(-3), places=("rollout",)
    ),
    "a receptive field one layer short": Fault(
        function=receptive_field.cone,
        wrong=lambda right, steps, query: right(steps, query).roll(-1, 0),
        places=("receptive field",),
    ),
    "gradients of the next token": Fault(
        function=receptive_field.sensitivity,
        wrong=lambda right, levels, x, query: right(levels, x, query - 1),
        places=("gradient", "receptive field"),
    ),
    "tokens compared with themselves": Fault(
        function=token_similarity.mean_cosine,
        wrong=lambda _, x: torch.nn.functional.normalize(x, dim=-1).mean(-2).square().sum(-1),
        places=("oversmoothing",),
    ),
    "what is left, squared": Fault(
        function=token_similarity.residual_share, wrong=lambda right, x: right(x).square(), places=("oversmoothing",)
    ),
    "weights that are shared counted once for each layer": Fault(
        function=stack.stack_parameters,
        wrong=lambda _, weights: sum(layer.n_parameters() for layer in weights),
        places=("layer sharing",),
    ),
}
