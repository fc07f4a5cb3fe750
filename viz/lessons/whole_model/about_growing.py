"""Answers about a text that grows: the mask in training and in writing, and what the cache keeps."""

from torch import Tensor

from viz.core.heads import multi_head
from viz.core.masks import causal
from viz.core.variants.decoding import decode
from viz.core.variants.kv_sharing import attend_shared
from viz.lessons.key import Key, PremiseError, Registry, Values, one_of, registered
from viz.lessons.subject import Subject

ANSWERS: Registry = {}
SAME = 1e-5
"""Outputs no further apart, as a share of the largest, are the same but for rounding."""
READS = {("k", "v"): "keys_values", ("k",): "keys", ("q", "k", "v"): "all"}
"""The option's code, by which of the earlier tokens' vectors change the newest token's output."""


def _differ(a: Tensor, b: Tensor) -> Tensor:
    """Return for each row whether it differs in any head by more than rounding."""
    return (a - b).abs().amax((0, 2)) > SAME * (1 + float(a.abs().max()))


@registered(ANSWERS, "number", "all", "last", "other")
def guesses_in_one_pass(subject: Subject) -> Key:
    """Number of tokens of a text whose guess can be compared with the next token."""
    n = subject.at_least(3)
    guesses = sum(place + 1 < n for place in range(n))
    values: Values = {"n": n, "guesses": guesses, "first": subject.name(0), "last": subject.name(n - 1)}
    return Key(right=(float(guesses),), values=values, traps={"all": float(n), "last": 1.0})


@registered(ANSWERS, "number", "all", "nothing", "other")
def rows_that_change(subject: Subject) -> Key:
    """Number of rows of the output that change under the causal mask when the last token becomes another one."""
    n, trace = subject.at_least(3), subject.trace
    edited = trace.x.clone()
    edited[-1] += 1
    counts = []
    for allowed in (causal(n, n), None):
        before, after = (
            multi_head(x, x, trace.projections, scale=trace.scale, allowed=allowed).head_outputs
            for x in (trace.x, edited)
        )
        counts.append(int(_differ(before, after).sum()))
    values: Values = {"n": n, "last": subject.name(n - 1), "changed": counts[0], "without": counts[1]}
    return Key(right=(float(counts[0]),), values=values, traps={"all": float(n), "nothing": 0.0})


@registered(ANSWERS, "option", codes=("same", "other"))
def same_as_training(subject: Subject) -> Key:
    """Compare reading token by token without a mask with the causal mask on the whole text at once."""
    n, trace = subject.at_least(3), subject.trace
    growing = decode(trace.q, trace.k, trace.v, scale=trace.scale)
    at_once = attend_shared(trace.q, trace.k, trace.v, allowed=causal(n, n), scale=trace.scale).output
    code = "other" if bool(_differ(growing, at_once).any()) else "same"
    return one_of(code, n=n, numbers=growing.numel(), H=growing.shape[0])


@registered(ANSWERS, "number", "square", "one", "other")
def scores_of_newest(subject: Subject) -> Key:
    """Number of scores one head computes for the newest token, if the keys of the others are kept."""
    n, trace = subject.at_least(3), subject.trace
    n_scores = attend_shared(trace.q[:, -1:], trace.k, trace.v, scale=trace.scale).scores[0].numel()
    values: Values = {"n": n, "last": subject.name(n - 1), "scores": n_scores, "all": n * n}
    return Key(right=(float(n_scores),), values=values, traps={"square": float(n * n), "one": 1.0})


@registered(ANSWERS, "option", codes=("keys", "keys_values", "all"))
def reads_of_earlier(subject: Subject) -> Key:
    """Vectors of earlier tokens (queries, keys, values) that the newest token's output depends on."""
    n, trace = subject.at_least(3), subject.trace
    projections = {"q": trace.q, "k": trace.k, "v": trace.v}
    allowed = causal(n, n)
    before = attend_shared(*projections.values(), allowed=allowed, scale=trace.scale).output
    read = []
    for name, heads in projections.items():
        edited = heads.clone()
        edited[:, :-1] = -2 * edited[:, :-1] - 1
        after = attend_shared(*{**projections, name: edited}.values(), allowed=allowed, scale=trace.scale).output
        if bool(_differ(before, after)[-1]):
            read.append(name)
    if (code := READS.get(tuple(read))) is None:
        raise PremiseError("on_one_token", query=subject.name(n - 1))
    return one_of(code, n=n, earlier=n - 1, last=subject.name(n - 1), per_token=_cache_numbers(subject))


def _cache_numbers(subject: Subject) -> int:
    return subject.trace.k[:, 0].numel() + subject.trace.v[:, 0].numel()


@registered(ANSWERS, "number", "keys_alone", "with_queries", "other")
def numbers_kept(subject: Subject) -> Key:
    """Numbers a token adds to the cache of one layer."""
    n, trace = subject.at_least(3), subject.trace
    (G, _, d_k), d_v, cached = trace.k.shape, trace.v.shape[-1], _cache_numbers(subject)
    sizes: Values = {"G": G, "d_k": d_k, "d_v": d_v, "H": trace.q.shape[0]}
    traps = {"keys_alone": float(G * d_k), "with_queries": float(cached + trace.q[:, 0].numel())}
    return Key(right=(float(cached),), values={**sizes, "kept": cached, "n": n, "whole": n * cached}, traps=traps)


@registered(ANSWERS, "number", "once", "square", "other")
def keys_without_cache(subject: Subject) -> Key:
    """Number of keys a head computes while a text is written, if none is kept."""
    n = subject.at_least(3)
    n_keys = sum(so_far for so_far in range(1, n + 1))
    values: Values = {"n": n, "computed": n_keys, "last": n}
    return Key(right=(float(n_keys),), values=values, traps={"once": float(n), "square": float(n * n)})
