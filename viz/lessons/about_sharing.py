"""Answers about heads that share keys and values: which reads which, what is saved, and what is lost."""

import torch

from viz.core.analysis.map_statistics import total_variation
from viz.core.attention import row_softmax
from viz.core.cost.attention import kv_cache_bytes, parameters
from viz.core.heads import share_kv
from viz.core.spec import AttentionSpec
from viz.core.variants.kv_sharing import kv_head_of, repeat_kv
from viz.lessons.key import Key, Part, PremiseError, Registry, Values, one_of, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}
GIB = 2**30
NUMBER_BYTES = 2
"""Of a number in the cache, as most servers keep it."""


def _specs(subject: Subject, groups: int) -> tuple[AttentionSpec, AttentionSpec]:
    """The layer with so many key/value heads, and with one for each query head.

    Raises:
        PremiseError: "no_groups".
    """
    spec = subject.trace.projections.spec
    if groups >= spec.H or spec.H % groups:
        raise PremiseError("no_groups", H=spec.H, G=groups)
    shared, unshared = (
        AttentionSpec(d_model=spec.d_model, n_heads=spec.H, n_kv_heads=n, d_head=spec.d_k, d_value=spec.d_v)
        for n in (groups, spec.H)
    )
    return shared, unshared


@registered(ANSWERS, "number", "in_turn", "itself", "other")
def reads_head(subject: Subject, groups: int, head: int) -> Key:
    """Key/value head that a query head reads."""
    shared, _ = _specs(subject, groups)
    if head >= shared.H:
        raise PremiseError("too_few_heads", n=shared.H)
    read = kv_head_of(shared.H, groups)[head]
    traps = {"in_turn": float(head % groups), "itself": float(head)}
    values: Values = {"H": shared.H, "G": groups, "head": head, "each": shared.H // groups, "read": read}
    return Key(right=(float(read),), values=values, traps={code: at for code, at in traps.items() if at != read})


@registered(ANSWERS, "number", "all_of_it", "layer", "other")
def cache_share(subject: Subject, groups: int) -> Key:
    """Share of the cache that is left when heads share their keys and values."""
    shared, unshared = _specs(subject, groups)
    sizes = [
        kv_cache_bytes(spec, n_tokens=len(subject.labels), n_layers=1, bytes_per_value=NUMBER_BYTES)
        for spec in (shared, unshared)
    ]
    part, of_layer = sizes[0] / sizes[1], parameters(shared).total / parameters(unshared).total
    values: Values = {
        "H": shared.H,
        "G": groups,
        "small": sizes[0],
        "large": sizes[1],
        "left": Part(part),
        "bytes": NUMBER_BYTES,
    }
    return Key(right=(part,), values=values, traps={"all_of_it": 1.0, "layer": of_layer})


@registered(ANSWERS, "option", codes=("same", "less", "more"))
def parameters_saved(subject: Subject, groups: int) -> Key:
    """Compare the shares by which the layer's parameters and its cache shrink."""
    shared, unshared = _specs(subject, groups)
    saving = 1 - parameters(shared).total / parameters(unshared).total
    of_cache = 1 - groups / shared.H
    code = "same" if abs(saving - of_cache) < 0.01 else "more" if saving > of_cache else "less"
    parts: Values = {"saved": Part(saving), "of_cache": Part(of_cache)}
    return one_of(code, H=shared.H, G=groups, small=parameters(shared).total, large=parameters(unshared).total, **parts)


@registered(ANSWERS, "option", codes=("raises", "silent", "right"))
def wrong_order(subject: Subject, groups: int) -> Key:
    """Behaviour of a program that repeats keys 0 1 0 1 where neighbours share 0 0 1 1: it has the same shapes."""
    shared, _ = _specs(subject, groups)
    k = torch.arange(groups, dtype=torch.float64)[:, None, None].expand(groups, len(subject.labels), 1)
    try:
        wrong = repeat_kv(k, shared.H)
    except (RuntimeError, ValueError):
        return one_of("raises", H=shared.H, G=groups, n=0)
    right = share_kv(k, shared.H)
    n = int((wrong != right).any(-1).any(-1).sum()) if wrong.shape == right.shape else shared.H
    return one_of("silent" if n else "right", H=shared.H, G=groups, n=n)


@registered(ANSWERS, "number", "keys_alone", "unshared", "other")
def cache_of(_: Subject, heads: int, groups: int, width: int, layers: int, tokens: int, number_bytes: int) -> Key:
    """The cache of a model of these sizes, in GiB."""

    def gib(n_kv_heads: int) -> float:
        spec = AttentionSpec(d_model=heads * width, n_heads=heads, n_kv_heads=n_kv_heads)
        return kv_cache_bytes(spec, n_tokens=tokens, n_layers=layers, bytes_per_value=number_bytes) / GIB

    size = gib(groups)
    sizes: Values = {"heads": heads, "groups": groups, "width": width, "layers": layers, "tokens": tokens}
    values: Values = {**sizes, "bytes": number_bytes, "size": size, "unshared": gib(heads)}
    return Key(right=(size,), values=values, traps={"keys_alone": size / 2, "unshared": gib(heads)})


@registered(ANSWERS, "option", codes=("same", "changed"))
def pooled(subject: Subject, groups: int) -> Key:
    """Check that a layer's attention stays the same when each group's keys and values are replaced by their mean."""
    trace = subject.trace
    if trace.projections.spec.G < trace.projections.spec.H:
        raise PremiseError("shares_already", H=trace.projections.spec.H, G=trace.projections.spec.G)
    if trace.projections.spec.H % groups or groups == trace.projections.spec.H:
        raise PremiseError("no_groups", H=trace.projections.spec.H, G=groups)
    k = share_kv(trace.k.unflatten(0, (groups, -1)).mean(1), len(trace.q))
    added = trace.masked - trace.scaled
    after = row_softmax(trace.q @ k.transpose(-1, -2) * trace.scale + added)
    change = float(total_variation(trace.weights, after).mean())
    return one_of("changed" if change > 0.01 else "same", H=trace.projections.spec.H, G=groups, moved=Part(change))
