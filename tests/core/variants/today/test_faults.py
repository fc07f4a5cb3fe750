"""Deliberate faults in current attention variants: a test by hand or by loops fails for every fault."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from tests.core import test_masks
from tests.core.cost import test_mixed
from tests.core.variants import test_layer_sharing
from tests.core.variants.residual import test_depth, test_streams
from tests.core.variants.today import (
    test_angles,
    test_bounded_scores,
    test_chosen_blocks,
    test_compressed,
    test_delta,
    test_differential,
    test_dilution,
    test_exclusive,
    test_gates,
    test_interleaved,
    test_latent,
    test_linear,
    test_selection,
    test_sinks,
)
from tests.faults import Wrong, put_in
from viz.core import attention, masks
from viz.core.cost import mixed
from viz.core.variants import layer_sharing
from viz.core.variants.residual import depth, streams
from viz.core.variants.today import (
    angles,
    bounded_scores,
    chosen_blocks,
    compressed,
    delta,
    differential,
    dilution,
    exclusive,
    gates,
    interleaved,
    latent,
    linear,
    selection,
    sinks,
)


def gate_after_w_o(right, x, weights, w_gate, *, b_gate=None, allowed=None):
    """The whole layer's output is gated, not what each head gives."""
    ungated = right(x, weights, w_gate, b_gate=torch.full_like(w_gate[0], math.inf), allowed=allowed)
    gate = torch.sigmoid(x @ w_gate)[:, : ungated.output.shape[-1]]
    return replace(ungated, output=ungated.output * gate)


def share_on_first_map(right, *tensors, share, **options):
    """λ scales the map it should leave alone."""
    trace = right(*tensors, share=share, **options)
    weights = share * trace.first.weights - trace.second.weights
    return replace(trace, weights=weights, output=weights @ tensors[-1])


def read_before_write(right, q, k, v, steps):
    """Each query reads the state without its own token."""
    trace = right(q, k, v, steps)
    own_contribution = (q * k).sum(-1, keepdim=True) * v
    return replace(trace, output=trace.output - own_contribution)


def fade_after_write(right, q, k, v, *, beta, steps, corrects=True):
    """The state fades once its token is written: every token is read one step fainter."""
    return right(q, k, v, beta=beta * steps.exp(), steps=steps, corrects=corrects)


def system_without_beta(right, q, k, *, beta, steps, corrects=True):
    """β stands on the right side of the triangular system, and is left out on the left."""
    return right(q, k, beta=torch.ones_like(beta), steps=steps, corrects=corrects) * beta[..., None, :]


def wrong_transpose(right, x, weights, **options):
    """W_UK's numbers are read along the other axis before it is absorbed: the shape is the same."""
    w_up_k = weights.w_up_k
    return right(x, replace(weights, w_up_k=w_up_k.T.reshape(w_up_k.shape)), **options)


def scale_of_long_key(right, x, weights, **options):
    """The absorbed form divides by the root of its key's width, not of the plain form's."""
    s = weights.spec
    factor = math.sqrt((s.d_nope + s.d_rope) / s.cache_width)
    return right(x, replace(weights, w_q=weights.w_q * factor), **options)


def shared_key_unturned(right, x, weights, *, turn=None):
    """The shared key is cached before its turn."""
    return right(x, weights)


def repeated_groups(right, weights, *, d_latent=None):
    """Groups are laid end to end (0 1 2 0 1 2) in the expanded keys, where neighbours should share (0 0 1 1 2 2)."""
    converted = right(weights, d_latent=d_latent)
    s = weights.spec
    heads = converted.w_up_k.unflatten(-1, (s.H, s.d_k))
    order = torch.arange(s.H).view(s.G, -1).T.flatten()
    return replace(converted, w_up_k=heads[:, order].flatten(1))


def speeds_of_part(right, width, rotary_dim, *, base=10_000.0):
    """The speeds of a head as wide as the part that turns."""
    omega = right(width, rotary_dim, base=base)
    omega[: rotary_dim // 2] = base ** (-torch.arange(0, rotary_dim, 2).double() / max(rotary_dim, 1))
    return omega


def turn_the_last(right, x, rotary_dim, **options):
    """The last dimensions turn, not the first."""
    return right(x.flip(-1), rotary_dim, **options).flip(-1)


def ignore_layer_kind(right, kinds, n_shared):
    """Later layers read the last layer before them, of whatever kind."""
    first = len(kinds) - n_shared
    return (*range(first), *[first - 1] * n_shared)


def without_allowed(right, scores, top_k, *, allowed=None):
    """The largest are chosen before closed cells are taken away."""
    selected = right(scores, top_k)
    return selected if allowed is None else selected & allowed


def renormalise_without_sink(right, masked, sink):
    """The weight of the sink is distributed among the words."""
    weights = right(masked, sink)
    return weights / weights.sum(-1, keepdim=True)


def readers_compute(right, x, layers, sources, **options):
    """Layers that should read make keys and values too."""
    return right(x, layers, range(len(layers)), **options)


Fault = tuple[Any, Wrong, Callable[[], None]]
FAULTS: dict[str, Fault] = {
    # Sinks
    "the sink counts in the row's sum": (
        attention.softmax_with_sink, renormalise_without_sink, test_sinks.test_row_lacks_weight_of_sink,
    ),
    "the sink is scaled like a score": (
        attention.softmax_with_sink,
        lambda right, masked, sink: right(masked, sink / math.sqrt(11)),
        test_sinks.test_column_and_gate_are_equal,
    ),
    "the gate by a sink has the other sign": (
        sinks.word_share, lambda right, masked, sink: right(masked, -sink), test_sinks.test_column_and_gate_are_equal,
    ),
    "off by two": (
        sinks.softmax_off_by_one,
        lambda right, masked: right(masked - math.log(2)),
        test_sinks.test_off_by_one_by_hand,
    ),
    "the first row counts in the first token's share": (
        sinks.first_token_share,
        lambda right, weights: weights[..., 0].mean(-1),
        test_sinks.test_first_token_share_skips_first,
    ),
    # Bounded scores
    "the cap lacks its factor": (
        bounded_scores.soft_cap,
        lambda right, cap: lambda scaled: right(cap)(scaled) / cap,
        test_bounded_scores.test_soft_cap_by_hand,
    ),
    "each head's norm comes after the turn": (
        bounded_scores.norm_queries_and_keys,
        lambda right, q, k, norm, *, turn: right(
            q, k, replace(norm, place="after_turn" if norm.place == "head" else norm.place), turn=turn
        ),
        test_bounded_scores.test_norm_of_heads_equals_torch,
    ),
    "a norm after the turn comes before it": (
        bounded_scores.norm_queries_and_keys,
        lambda right, q, k, norm, *, turn: right(q, k, replace(norm, place="head"), turn=turn),
        test_bounded_scores.test_norm_after_turn_equals_torch,
    ),
    "keys have no gain": (
        bounded_scores.norm_queries_and_keys,
        lambda right, q, k, norm, *, turn: right(q, k, replace(norm, k_gain=None), turn=turn),
        test_bounded_scores.test_norm_of_all_heads_equals_torch,
    ),
    "keys have the queries' gain": (
        bounded_scores.norm_queries_and_keys,
        lambda right, q, k, norm, *, turn: right(q, k, replace(norm, k_gain=norm.q_gain), turn=turn),
        test_bounded_scores.test_norm_of_heads_equals_torch,
    ),
    "the bound lacks the root of the width": (
        bounded_scores.largest_score,
        lambda right, norm, **sizes: right(norm, **sizes) / math.sqrt(sizes["d_k"]),
        test_bounded_scores.test_bound_by_hand,
    ),
    "the bound overlooks a turn": (
        bounded_scores.largest_score,
        lambda right, norm, **sizes: right(norm, **sizes | {"pairs": None}),
        test_bounded_scores.test_turn_breaks_the_plain_bound,
    ),
    "the bound of all heads is that of each": (
        bounded_scores.largest_score,
        lambda right, norm, **sizes: right(norm, **sizes)
        / math.sqrt(sizes.get("n_heads", 1) * sizes.get("n_kv_heads", 1)),
        test_bounded_scores.test_bound_by_hand,
    ),
    # A gate on the output
    "the gate stands after W_O": (gates.attend_gated, gate_after_w_o, test_gates.check_gated_heads),
    "each head has its neighbour's gate": (
        gates.output_gate,
        lambda right, *args, **options: right(*args, **options).roll(1, -3),
        test_gates.test_gate_by_hand,
    ),
    "the gate is not squeezed": (
        gates.output_gate,
        lambda right, *args, **options: right(*args, **options).logit(),
        test_gates.check_gated_heads,
    ),
    # Differential attention
    "λ has the other sign": (
        differential.attend_differential,
        lambda right, *args, share, **options: right(*args, share=-share, **options),
        test_differential.test_rows_sum_to_rest,
    ),
    "λ scales the first map": (
        differential.attend_differential, share_on_first_map, test_differential.test_difference_by_loops,
    ),
    "λ starts as if layers counted from 1": (
        differential.initial_share, lambda right, layer: right(layer + 1), test_differential.test_shares_by_hand,
    ),
    "both exponentials are added": (
        differential.learned_share,
        lambda right, q_1, k_1, q_2, k_2, *, start: (q_1 @ k_1).exp() + (q_2 @ k_2).exp() + start,
        test_differential.test_shares_by_hand,
    ),
    "the norm's factor is left out": (
        differential.norm_difference,
        lambda right, output, *, start: right(output, start=0.0),
        test_differential.test_norm_of_difference_equals_torch,
    ),
    # Exclusive self-attention
    "the own value is not brought to length 1": (
        exclusive.exclude_own_value,
        lambda right, output, v, **options: output - (output * v).sum(-1, keepdim=True) * v,
        test_exclusive.test_own_value_by_hand,
    ),
    "only the own word's part is taken away": (
        exclusive.exclusive_map,
        lambda right, weights, v, *, share=1.0: weights - share * torch.diag_embed(weights.diagonal(dim1=-2, dim2=-1)),
        test_exclusive.test_map_gives_the_same,
    ),
    "each head has the first one's share": (
        exclusive.exclude_own_value,
        lambda right, output, v, *, share=1.0: right(output, v, share=torch.as_tensor(share).flatten()[0]),
        test_exclusive.test_rest_is_orthogonal_to_value,
    ),
    # Attention over depth, several streams
    "sources are summed as they are": (
        depth.attend_depth,
        lambda right, sources, w, **options: right(sources, w, **options | {"is_normed": False}),
        test_depth.test_normed_sources_are_summed,
    ),
    "a source counts as if it were as long as all": (
        depth.shares_of_lengths, lambda right, weights, sources: weights, test_depth.test_shares_point_along_the_sum,
    ),
    "M is transposed once too often": (
        streams.StreamWeights.next,
        lambda right, self, *args: right(replace(self, mix=self.mix.mT), *args),
        test_streams.test_streams_by_loops,
    ),
    "the rounds end with the second axis": (
        streams.sinkhorn, lambda right, logits, **o: right(logits.mT, **o).mT, test_streams.test_sums_of_mix,
    ),
    # Without softmax
    "a token has faded when it is read at once": (
        linear.decay_map,
        lambda right, steps: right(steps) * steps[..., None, :].exp(),
        test_linear.test_decay_by_loops,
    ),
    "the decay is one token short": (
        linear.decay_map, lambda right, steps: right(steps.roll(1, -1)), test_linear.test_states_and_map_are_equal,
    ),
    "the state is read before it is written": (
        linear.linear_states, read_before_write, test_linear.test_states_and_map_are_equal,
    ),
    "the state does not fade": (
        linear.linear_states,
        lambda right, q, k, v, steps: right(q, k, v, 0 * steps),
        test_linear.test_state_is_small_at_any_length,
    ),
    "the first head fades like the second": (
        linear.lightning_slopes,
        lambda right, n_heads, **place: right(n_heads + 1, **place)[1:],
        test_linear.test_slopes_by_hand,
    ),
    "β is left out": (
        delta.delta_map,
        lambda right, *args, beta, **options: right(*args, beta=torch.ones_like(beta), **options),
        test_delta.test_states_and_map_are_equal,
    ),
    "β is left out of the system": (delta.delta_map, system_without_beta, test_delta.test_states_and_map_are_equal),
    "the corrections solve a system transposed": (
        delta._system,
        lambda right, *args: (right(*args)[0], right(*args)[1].mT),
        test_delta.test_states_and_map_are_equal,
    ),
    "nothing is taken out before a write": (
        delta.delta_states,
        lambda right, *args, corrects=True, **options: right(*args, corrects=False, **options),
        test_delta.test_repeated_key_has_last_value,
    ),
    "the state fades after the write": (delta.delta_states, fade_after_write, test_delta.test_states_by_other_formula),
    "queries are not divided by the root": (
        delta.delta_states,
        lambda right, q, *args, **options: right(q * math.sqrt(q.shape[-1]), *args, **options),
        test_delta.test_keys_at_right_angles_recall,
    ),
    "the decay grows": (
        delta.decay_steps, lambda right, *args: -right(*args), test_delta.test_decay_steps_by_hand,
    ),
    # Latent attention
    "W_UK is absorbed with the wrong transpose": (
        latent.attend_absorbed, wrong_transpose, test_latent.test_both_forms_are_equal,
    ),
    "the absorbed form is scaled by its long key": (
        latent.attend_absorbed, scale_of_long_key, test_latent.test_both_forms_are_equal,
    ),
    "the shared key is not turned": (latent.latent_cache, shared_key_unturned, test_latent.test_plain_form_by_loops),
    "the latent vector has no norm": (
        latent.latent_cache,
        lambda right, x, weights, **options: right(x, replace(weights, gain=None), **options),
        test_latent.test_plain_form_by_loops,
    ),
    "groups repeat in a converted layer": (
        vars(latent.LatentWeights)["from_heads"].__func__,
        lambda right, cls, *args, **options: repeated_groups(lambda *a, **o: right(cls, *a, **o), *args, **options),
        test_latent.check_conversion,
    ),
    # Windows, chunks, layers, selection
    "a window is one too wide": (
        masks.look_back,
        lambda right, n_queries, n_keys, size: right(n_queries, n_keys, size + 1),
        test_interleaved.test_masks_follow_the_pattern,
    ),
    "a chunk follows its query": (
        masks.chunks,
        lambda right, n_queries, n_keys, size: masks.window(n_queries, n_keys, size - 1)
        & masks.causal(n_queries, n_keys),
        test_interleaved.test_masks_follow_the_pattern,
    ),
    "a block ends one token early": (
        masks.blocks,
        lambda right, n_queries, n_keys, size: right(n_queries, n_keys, max(1, size - 1)),
        lambda: test_masks.test_blocks(7, 7),
    ),
    "blocks are closed to the future": (
        masks.blocks,
        lambda right, n_queries, n_keys, size: right(n_queries, n_keys, size) & masks.causal(n_queries, n_keys),
        lambda: test_masks.test_blocks(7, 7),
    ),
    "the full layer begins its period": (
        interleaved.full_layers,
        lambda right, n_layers, *, period, starts_full=False: right(n_layers, period=period, starts_full=True),
        test_interleaved.test_published_patterns,
    ),
    "each window reaches one too far": (
        interleaved.earliest_token,
        lambda right, query, full, *, size, near="window": right(query, full, size=size + 1, near=near),
        test_interleaved.test_reach_equals_spreading,
    ),
    "chunks reach further with each layer": (
        interleaved.earliest_token,
        lambda right, query, full, *, size, near="window": right(query, full, size=size, near="window"),
        test_interleaved.test_reach_equals_spreading,
    ),
    "negative products count in the scorer": (
        selection.index_scores,
        lambda right, q, k, weights: (weights.mT[..., None] * (q @ k[..., None, :, :].mT)).sum(-3),
        test_selection.test_scores_by_loops,
    ),
    "the smallest scores are kept": (
        selection.top_k_mask,
        lambda right, scores, *args, **options: right(-scores, *args, **options),
        test_selection.test_largest_are_kept,
    ),
    "closed cells are chosen": (selection.top_k_mask, without_allowed, test_selection.test_largest_are_kept),
    "the lost weight counts the last key kept": (
        selection.lost_shares,
        lambda right, weights: right(weights).roll(1, -1),
        test_selection.test_lost_shares_by_hand,
    ),
    "the lost weight follows the order of the text": (
        selection.lost_shares,
        lambda right, weights: 1 - weights.cumsum(-1),
        test_selection.test_lost_shares_by_hand,
    ),
    "the own block has no privilege": (
        chosen_blocks.block_mask,
        lambda right, scores, *args, **options: right(scores.roll(1, -2), *args, **options),
        test_chosen_blocks.check_blocks,
    ),
    "pooled blocks are counted from the first key": (
        chosen_blocks.pooled_mask,
        lambda right, q, k, *args, allowed=None: right(q, k, *args) & allowed,
        test_chosen_blocks.check_blocks,
    ),
    "the block before has no series of its own": (
        compressed.compress,
        lambda right, series, *, earlier=None: right(series, earlier=earlier and series),
        test_compressed.test_entries_by_loops,
    ),
    "an entry opens a word late": (
        compressed.compressed_mask,
        lambda right, allowed, m, fresh: right(allowed, m, fresh) & right(allowed, m, fresh).roll(1, -2),
        test_compressed.test_mask_opens_blocks_at_last_word,
    ),
    "half of it is turned back": (
        compressed.attend_to_entries,
        lambda right, *rows, rotary_dim: right(*rows, rotary_dim=rotary_dim // 2),
        test_compressed.test_turned_back_is_relative,
    ),
    "layers read keys of another kind": (
        layer_sharing.kv_sources, ignore_layer_kind, test_layer_sharing.test_kv_sources_follow_the_kind,
    ),
    "layers that read compute their keys": (
        layer_sharing.attend_in_layers, readers_compute, test_layer_sharing.test_readers_use_what_was_cached,
    ),
    # Angles
    "the last dimensions turn": (angles.partial_rope, turn_the_last, test_angles.test_partial_rope_turns_the_first),
    "a part turns at its own speeds": (
        angles.proportional_frequencies, speeds_of_part, test_angles.test_proportional_turns_the_fastest,
    ),
    "the ramp is upside down": (
        angles.yarn_ramp,
        lambda right, *args, **options: 1 - right(*args, **options),
        test_angles.test_yarn_ramp_by_hand,
    ),
    "slow pairs are made faster": (
        angles.yarn_frequencies,
        lambda right, *args, factor, **options: right(*args, factor=1 / factor, **options),
        test_angles.test_yarn_keeps_fast_and_stretches,
    ),
    "YaRN's gain is its square": (
        angles.yarn_gain, lambda right, factor: right(factor) ** 2, test_angles.test_yarn_without_stretch_is_rope,
    ),
    "the temperature rises a token late": (
        angles.temperatures,
        lambda right, positions, **options: right(positions - 1, **options),
        test_angles.test_temperature_by_hand,
    ),
    "one other key too many": (
        dilution.weight_among,
        lambda right, scores, key, n_keys, factors: right(scores, key, n_keys + 1, factors),
        test_dilution.test_weight_among_by_hand,
    ),
    "the temperature leaves the others alone": (
        dilution.weight_among,
        lambda right, scores, key, n_keys, factors: right(scores, key, n_keys, torch.ones_like(factors)),
        test_dilution.test_weight_among_by_hand,
    ),
    # Costs
    "the cache of a latent layer holds every head": (
        mixed.LatentCost.cache_numbers,
        lambda right, self, n: n * self.spec.expanded_width,
        test_mixed.test_published_caches,
    ),
    "a window has no end in the cache": (
        mixed.WindowCost.cache_numbers,
        lambda right, self, n: mixed.FullCost(spec=self.spec).cache_numbers(n),
        test_mixed.test_windows_in_a_model,
    ),
    "the delta rule reads once": (
        mixed.LinearCost.step_flops,
        lambda right, self, n: right(replace(self, corrects=False), n),
        test_mixed.test_linear_layer_equals_torch_count,
    ),
    "a latent step expands every token": (
        mixed.LatentCost.step_flops,
        lambda right, self, n: self.text_flops(n) // n,
        test_mixed.test_latent_layer_equals_torch_count,
    ),
    "the scorer is free": (
        mixed.TopKCost.step_flops,
        lambda right, self, n: self.layer.step_flops(min(n, self.top_k)),
        test_mixed.test_selection_is_cheaper_for_long_texts,
    ),
    "a reused layer has a cache": (
        mixed.SharedKVCost.cache_numbers,
        lambda right, self, n: self.layer.cache_numbers(n),
        test_mixed.test_reused_layers_keep_nothing,
    ),
    "equal costs are below": (
        mixed.cheaper_from,
        lambda right, cost, reference: right(lambda n: cost(n) - 1, reference),
        test_mixed.test_crossings_by_hand,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_fault_turns_a_test_red(name, monkeypatch):
    """The test passes without the fault and fails with it, by an assertion and not by another error."""
    function, wrong, test = FAULTS[name]
    test()
    put_in(monkeypatch, function, wrong)
    with pytest.raises(AssertionError):
        test()
