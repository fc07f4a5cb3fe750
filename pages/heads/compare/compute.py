"""Comparison of two texts or two models, cached: pairs of tokens, and the change of every head's map."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from torch import Tensor

from viz.components.comparison import pack_differences, pack_two
from viz.components.head_grid import Packed
from viz.core.analysis.lens import chances
from viz.core.analysis.map_statistics import merge_words, message_norms, uniform
from viz.core.analysis.score_parts import Edge, Part, contrast_weights, split_change
from viz.core.comparison.alignment import Alignment, align
from viz.core.comparison.maps import change, place_on_slots
from viz.core.heads import share_kv
from viz.core.variants.kv_sharing import induction
from viz.errors import ModelError
from viz.frame.compute import cached, model, read, trace
from viz.frame.compute.head_grid import axis, look
from viz.frame.specs import Mask, Source, View
from viz.models.capture import Head
from viz.models.layers.score_parts import row_with, scoring_heads
from viz.models.recount.own_attention import has_own_attention
from viz.models.recount.score_parts import contrast_by_weights
from viz.models.spelling.visible import SPACE
from viz.models.stream import unembed
from viz.models.tokens import Tokens, guesses

LIKELIEST, MOST = 6, 3
"""Words of either text that are compared as what comes next; heads that a change is told of."""


@dataclass(frozen=True, kw_only=True)
class ComparisonKey:
    """Complete key of a comparison: equal keys give equal numbers.

    Every head with the same head on the other text; or, if ``head`` is given, that one of the first model with every
    head of the second. ``view`` may merge pieces into words and hide special tokens.
    """

    a: Source
    b: Source
    mask: Mask
    view: View
    head: Head | None = None


@dataclass(frozen=True, kw_only=True)
class Sides:
    """The slots of two texts, and for each its token's label in either; "" where there is none.

    ``of`` has for each token of the first text the slot it is in, -1 where it is hidden.
    """

    alignment: Alignment
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    of: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Copying:
    """The head that looks most from a word to what came after its earlier mention, and the mean weight it gives there.

    ``even``: what weights spread evenly over all keys that may be looked at would give.
    """

    head: Head
    weight: float
    even: float


@dataclass(frozen=True, kw_only=True)
class NextWords:
    """The words that come next in either text, as either model expects them: their labels, the ``chances`` (2, n).

    ``most`` are the largest chances of all words on either side, best first, (2, MOST_READ).
    """

    labels: tuple[str, ...]
    chances: Tensor
    most: Tensor


def keys_of(tokens: Tokens, view: View, spelled: bool) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The keys by which tokens are compared, and 1 for each special token.

    ``spelled``: of two tokenizers, of which one may write a space before a word, or small letters only.
    """
    # In one model tokens are compared by number, not by spelling.
    along = axis(tokens if spelled else replace(tokens, spans=()), view)
    special = {row for row, added in zip(along.of, tokens.special, strict=True) if added}
    keys = [label.removeprefix(SPACE).casefold() if spelled else label for label in along.labels]
    return tuple(keys), tuple(int(row in special) for row in range(len(keys)))


@cached
def sides(comparison: ComparisonKey) -> Sides:
    """The alignment of the tokens of both texts."""
    view, spelled = comparison.view, comparison.a.model != comparison.b.model
    texts = [read(source).tokens for source in (comparison.a, comparison.b)]
    (keys_a, kinds_a), (keys_b, kinds_b) = (keys_of(tokens, view, spelled) for tokens in texts)
    alignment = align(keys_a, keys_b, (kinds_a, kinds_b))
    rows = [axis(tokens, view) for tokens in texts]
    places = alignment.a.tolist(), alignment.b.tolist()
    labels_of_sides = [[label.removeprefix(SPACE) if spelled else label for label in side.labels] for side in rows]
    labels = [
        tuple(side[place] if place >= 0 else "" for place in of)
        for side, of in zip(labels_of_sides, places, strict=True)
    ]
    slot_of = {place: slot for slot, place in enumerate(places[0]) if place >= 0}
    of = tuple(slot_of.get(row, -1) for row in rows[0].of)
    return Sides(alignment=alignment, labels=(labels[0], labels[1]), of=of)


def _maps_on_slots(comparison: ComparisonKey, which: str, layer: int) -> Tensor:
    """The maps of a layer of one side, on the slots."""
    source, places = getattr(comparison, which), getattr(sides(comparison).alignment, which)
    capture = read(source)
    n = len(capture.tokens.ids)
    with torch.inference_mode():
        steps = capture.layer(layer, allowed=comparison.mask.allowed(n, n))
    return place_on_slots(look(steps, capture, comparison.view), places)


def maps(comparison: ComparisonKey, head_a: Head, head_b: Head) -> tuple[Tensor, Tensor]:
    """One head's weights on both sides, on the slots; NaN where one has no such token."""
    return _maps_on_slots(comparison, "a", head_a[0])[head_a[1]], _maps_on_slots(comparison, "b", head_b[0])[head_b[1]]


@cached
def differences(comparison: ComparisonKey) -> Packed:
    """The change of every head's map, packed for the browser, with the number by which heads are ordered."""
    n_layers = read(comparison.b).n_layers

    def layers() -> Iterator[tuple[Tensor, Tensor]]:
        for layer in range(n_layers):
            if comparison.head is None:
                a = _maps_on_slots(comparison, "a", layer)
            else:
                a = _maps_on_slots(comparison, "a", comparison.head[0])[comparison.head[1]][None]
            b = _maps_on_slots(comparison, "b", layer)
            # A head at a time: for 12 heads and 512 tokens the intermediate tensors would be 300 MB.
            yield b - a, torch.stack([change(*pair) for pair in zip(a.expand_as(b), b, strict=True)])

    order = "change" if comparison.head is None else "alike"
    return pack_differences(layers(), n_layers=n_layers, order=order, channel="compare")


@cached
def two(comparison: ComparisonKey, what: str, head_a: Head, head_b: Head) -> Packed:
    """One head's maps on both texts: "weights", or the lengths of what "arrives"."""
    a, b = (
        _maps_on_slots(comparison, which, head[0])[head[1]] if what == "weights" else _arrivals(comparison, which, head)
        for which, head in (("a", head_a), ("b", head_b))
    )
    return pack_two(a, b, what=what, heads=[head_a, head_b], channel="compare")


def _arrivals(comparison: ComparisonKey, which: str, head: Head) -> Tensor:
    r"""The lengths :math:`\lVert A_{ij} v_j W_O \rVert` on the slots: of words the sum over keys, mean over queries."""
    source, places = getattr(comparison, which), getattr(sides(comparison).alignment, which)
    steps, tokens = trace(source, head[0], comparison.mask), read(source).tokens
    w_o = steps.projections.w_o.unflatten(0, (steps.projections.spec.H, -1))
    lengths = (steps.weights[head[1]] * message_norms(share_kv(steps.v, len(w_o)), w_o)[head[1]])[None]
    if comparison.view.merge:
        words = torch.tensor(tokens.words)
        lengths = merge_words(lengths, words, words)
    visible_rows = sorted({(of, row) for of, row in zip(*_rows(tokens, comparison.view), strict=True) if of >= 0})
    at = torch.tensor([row for _, row in visible_rows])
    return place_on_slots(lengths[:, at][..., at], places)[0]


@cached
def copying(source: Source, mask: Mask) -> Copying | None:
    """The head of a text that is most of an induction head; None where no token comes again after something else."""
    capture = read(source)
    ids = torch.tensor(capture.tokens.ids)
    layers = [trace(source, layer, mask) for layer in range(capture.n_layers)]
    scores = torch.stack([induction(steps.weights, ids) for steps in layers])
    if scores.isnan().any():
        return None
    layer, head = divmod(int(scores.argmax()), capture.n_heads)
    even = induction(uniform(layers[layer].masked[head].isfinite())[None], ids)
    return Copying(head=(layer, head), weight=float(scores[layer, head]), even=float(even))


def _rows(tokens: Tokens, view: View) -> tuple[Sequence[int], Sequence[int]]:
    """For each token the row it has in the view, -1 where it is hidden, and the one it has if nothing is."""
    return axis(tokens, view).of, axis(tokens, replace(view, hide=False)).of


@cached
def next_words(a: Source, b: Source) -> NextWords | None:
    """The likeliest next tokens of both texts with both probabilities; None if a model does not predict."""
    likely = []
    for source in (a, b):
        capture = read(source)
        if "decoder" not in capture.stacks or capture.target is not None or not capture.predictions:
            return None
        likely.append(chances(unembed(model(source.model), capture.final[-1:])[0]))
    if len({len(side) for side in likely}) > 1:
        return None
    both = torch.stack(likely)
    words = list(dict.fromkeys(both.topk(min(LIKELIEST, both.shape[-1])).indices.flatten().tolist()))
    most = both.topk(len(read(a).predictions[0].labels)).values
    shown_as = guesses(model(a.model).tokenizer, words)
    return NextWords(labels=shown_as, chances=both[:, words].clone(), most=most)


class Change(NamedTuple):
    """The change of a key's score, less that of ``against``, from text to text; ``size`` is the sum of parts' sizes.

    ``heads``, if three bring half of it to the query: their parts, and the weight that each has on the changed word.
    ``rows`` are those of both texts "before" and "after" the exchange, and after that of "rivals".
    """

    total: float
    size: float
    against: int
    heads: dict[Part, tuple[float, float]]
    rows: dict[str, list[Tensor]]
    error: float | None

    def weights(self, *keys: int) -> dict[str, float]:
        """Weights of a key in both rows of each name; those of the second text are called "before_b" and so on."""
        names = [(name, which, end) for name in self.rows for which, end in enumerate(("", "_b"))]
        return {name + end: float(self.rows[name][which][keys[which]]) for name, which, end in names}


@cached
def score_change(
    sources: tuple[Source, Source], at: Head, edges: tuple[Edge, Edge], places: tuple[Edge, ...], word: int
) -> Change:
    """Split the change of a key's score less that of the word looked at most beside it, and exchange its heads.

    The texts are read by one model; ``edges`` are the query and the key, ``places`` the tokens that are in both, each
    in either text; ``word`` is the place in the first of the word that changed.
    """
    loaded_model, captures, error = model(sources[0].model), [read(source) for source in sources], None
    queries = edges[0][0], edges[1][0]
    with torch.inference_mode():
        scoring = [scoring_heads(loaded_model, capture, at[0])[at[1]] for capture in captures]
        texts = list(zip(scoring, edges, strict=True))
        rows = {"before": [head.row(query) for head, (query, _) in texts]}
        in_sight = [head.rivals(edge) for head, edge in texts]
        besides = [pair for pair in places if pair[0] in in_sight[0] and pair[1] in in_sight[1]]
        if not besides or not all(edge[1] in head.plain and head.allowed[edge] for head, edge in texts):
            raise ModelError("split_word")
        rivals = max(besides, key=lambda pair: sum(float(row[i]) for row, i in zip(rows["before"], pair, strict=True)))
        c = [contrast_weights(len(head.q), edge[1], [i]) for (head, edge), i in zip(texts, rivals, strict=True)]
        at_query, at_key = split_change(scoring, queries, c)
        amounts = [*at_query.values(), *at_key.values()]
        total, in_order = sum(amounts), [of for of in at_query if of.kind == "head"]
        by_size = sorted(in_order, key=lambda of: -at_query[of] * total)[:MOST]
        heads = [of for of in by_size if at_query[of] * total > 0]
        if sum(at_query[of] for of in heads) * total < total**2 / 2:
            heads = []
        controls = [of for of in in_order if of.layer in {of.layer for of in heads} and of not in heads][:MOST]
        for name, parts in (("after", heads), ("rivals", controls)):
            first = row_with(loaded_model, captures[0], captures[1], at, parts, queries)
            rows[name] = [first, row_with(loaded_model, captures[1], captures[0], at, parts, queries[::-1])]
    if has_own_attention(loaded_model):
        of_texts = zip(captures, queries, c, strict=True)
        by_weights = [contrast_by_weights(loaded_model, capture, at, query, of) for capture, query, of in of_texts]
        error = abs(by_weights[1] - by_weights[0] - total)
    looks = {of: (at_query[of], float(captures[0].layer(of.layer).weights[of.head, queries[0], word])) for of in heads}
    return Change(total, sum(map(abs, amounts)), rivals[0], looks, rows, error)
