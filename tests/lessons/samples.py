"""Random sentences with random heads, some of which do what questions ask for; and their weights by numpy."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

import numpy as np
import pytest
import torch

from viz.core import masks
from viz.core.heads import HeadWeights, MultiHeadTrace, multi_head
from viz.core.spec import AttentionSpec
from viz.lessons.key import AnswerValue, Function, Key, PremiseError
from viz.lessons.subject import Decoder, Subject

SUBJECTS = ("it", "animal", "street")
WORDS = ("a", "b", "c", "d", "e", "f", "g", "dog", "was", "too", "tired", "cat", "saw")
H, G, D_K, D_V, D_MODEL, LAYERS = 6, 3, 5, 7, 11, 3
VOCABULARY = (*SUBJECTS, *WORDS[7:], "no")
SEEDS = range(200)
ENOUGH = 40
"""Of so many sentences a key is held to its reference; some questions can be asked of few of the 200."""
JITTER = 1e-13


@dataclass(frozen=True)
class Sample:
    """The subject of a question, and the same numbers by numpy.

    ``scores`` and ``weights`` (L, H, Q, K) are of every layer, ``scores`` scaled and with the bias, before the mask;
    ``values`` (H, K, D_V) and ``messages`` (H, K, D_MODEL) are of the layer that is looked at, as ``w_o`` makes them.
    """

    subject: Subject
    scores: np.ndarray
    weights: np.ndarray
    values: np.ndarray
    messages: np.ndarray
    bias: np.ndarray

    @property
    def row_of_head(self) -> np.ndarray:
        """The weights of the layer and the head that are looked at."""
        return self.weights[self.subject.layer, self.subject.chosen["head"]]


def softmax(scores: np.ndarray) -> np.ndarray:
    """Of the last axis; a row of minus infinities becomes 0."""
    peaks = scores.max(-1, keepdims=True)
    exps = np.exp(scores - np.where(np.isinf(peaks), 0, peaks))
    return exps / np.maximum(exps.sum(-1, keepdims=True), 1e-300)


@cache
def sample(seed: int, jitter: float = 0.0) -> Sample:
    """A sentence of 1 to 11 words between two marks, in which three layers of heads look around.

    Weights and outputs are multiplied by about 1 + ``jitter``: on another processor, they differ in their last bits.
    """
    random, generator = Random(seed), torch.Generator().manual_seed(seed)
    words_ = random.sample(SUBJECTS, random.choice([0, 1, 3, 3])) + random.choices(WORDS, k=random.randint(1, 8))
    random.shuffle(words_)
    n = len(words_) + 2
    spec = AttentionSpec(d_model=D_MODEL, n_heads=H, n_kv_heads=G, d_head=D_K, d_value=D_V)
    bias, mask, weights_ = _bias(random, n), _mask(random, n), _head_weights(spec, seed, random.choice([0.0, 0.5, 3.0]))
    layers, scores = [], []
    for _ in range(LAYERS):
        x = torch.randn(n, D_MODEL, generator=generator, dtype=torch.float64)
        x *= torch.rand(n, 1, generator=generator, dtype=torch.float64) * 2
        layers.append(_with_jitter(multi_head(x, x, weights_, allowed=mask, bias=bias), jitter))
        scores.append(scores_of(x.numpy(), weights_) + bias.numpy())
    layer, every_score = random.randrange(LAYERS), np.stack(scores)
    open_cells = np.ones((n, n), bool) if mask is None else mask.numpy()
    trace = layers[layer]
    values = np.repeat(cut(trace.x.numpy() @ weights_.w_v.numpy(), G), H // G, 0)
    return Sample(
        subject=Subject(
            labels=("[CLS]", *words_, "[SEP]"),
            special=(True, *[False] * len(words_), True),
            trace=trace,
            layer=layer,
            n_layers=LAYERS,
            weights_of=lambda number: layers[number].weights,
            chosen={"head": random.randrange(H)},
            decoder=_decoder(n, seed),
            facts=_facts(n, Random(seed)),
        ),
        scores=every_score,
        weights=softmax(np.where(open_cells, every_score, -np.inf)),
        values=values,
        messages=np.einsum("hkd,hdo->hko", values, weights_.w_o.numpy().reshape(H, D_V, -1)),
        bias=bias.numpy(),
    )


def _facts(n: int, random: Random) -> dict[str, float]:
    """Numbers of a section about reasons: four words, parts of a score, and weights before and after an exchange."""
    places = {name: random.randrange(1, n - 1) for name in ("query", "key", "mine", "met")}
    parts = {name: random.uniform(-2, 9) for name in ("word", "place", "head", "feed_forward", "amount")}
    weights = {name: random.random() for name in ("before", "before_b", "after", "after_b")}
    return {**places, **parts, **weights, "total": random.uniform(1, 12)}


def _with_jitter(trace: MultiHeadTrace, jitter: float) -> MultiHeadTrace:
    names = ("weights", "contributions", "output") if jitter else ()
    noise = torch.Generator().manual_seed(0)
    products = {
        name: (of := getattr(trace, name)) * (1 + jitter * torch.randn(of.shape, generator=noise, dtype=of.dtype))
        for name in names
    }
    return replace(trace, **products)


def _decoder(n: int, seed: int) -> Decoder:
    """A decoder of ten words, more or less sure; about half of its text is what it finds likeliest."""
    generator, random = torch.Generator().manual_seed(seed), Random(seed)
    logits = torch.randn(n, len(VOCABULARY), generator=generator, dtype=torch.float64) * random.choice(
        [0.01, 1, 5, 200]
    )
    random_tokens = [random.randrange(len(VOCABULARY)) for _ in range(n)]
    ids = [random_tokens[0]]
    ids += [
        int(row.argmax()) if random.random() < 0.5 else token
        for row, token in zip(logits, random_tokens[1:], strict=False)
    ]
    parts = {name: random.uniform(-3, 3) for name in ("heads", "feed_forward", "embedding")}
    return Decoder(
        logits=logits,
        ids=tuple(ids),
        at=random.randrange(n),
        word=VOCABULARY.__getitem__,
        token=lambda word: VOCABULARY.index(word) if word in VOCABULARY else None,
        followed="animal",
        parts=parts,
    )


def cut(rows: np.ndarray, heads: int) -> np.ndarray:
    """Vectors (T, heads x d) cut apart, (heads, T, d)."""
    return np.stack(np.split(rows, heads, axis=1))


def scores_of(x: np.ndarray, weights: HeadWeights) -> np.ndarray:
    """Scaled scores (H, Q, K), before bias and mask."""
    q, k = cut(x @ weights.w_q.numpy(), H), np.repeat(cut(x @ weights.w_k.numpy(), G), H // G, 0)
    return np.einsum("hqd,hkd->hqk", q, k) / D_K**0.5


def _head_weights(spec: AttentionSpec, seed: int, sharpness: float) -> HeadWeights:
    random_weights = HeadWeights.random(spec, seed=seed)
    doubled = {name: getattr(random_weights, name).double() for name in ("w_q", "w_k", "w_v", "w_o")}
    return replace(random_weights, **{**doubled, "w_q": doubled["w_q"] * sharpness})


def _mask(random: Random, n: int) -> torch.Tensor | None:
    kind = random.choice(["none", "none", "causal", "narrow"])
    return {
        "none": None,
        "causal": masks.causal(n, n),
        "narrow": masks.window(n, n, 1) & masks.causal(n, n),
    }[kind]


def _bias(random: Random, n: int) -> torch.Tensor:
    """Biases that make heads of a layer look at the word before, at the first token, or at nothing in particular."""
    kind = random.choice(["none", "none", "first", "previous", "itself", "beside"])
    bias, i = torch.zeros(H, n, n, dtype=torch.float64), torch.arange(n)
    if kind == "first":
        bias[:, :, 0] = 3
    if kind == "previous":
        bias[random.randrange(H), i[1:], i[:-1]] = random.choice([3, 9])
    if kind == "itself":
        bias[:, i, i] = 3
    if kind == "beside":
        bias[:, i[1:], i[:-1]] = bias[:, i[:-1], i[1:]] = 4
    return bias


def hold(
    function: Function,
    reference: Callable[..., Any],
    arguments: Mapping[str, Any],
    *,
    refuses: bool = True,
    asks: int = 10,
) -> None:
    """Hold a function to what numpy finds on random sentences; the reference gives None where nothing can be asked.

    Args:
        function: works out the key.
        reference: gives the right answer, or a set of them.
        arguments: of both; those that are words have to be in the sentence.
        refuses: whether there are sentences of which the question cannot be asked.
        asks: of how many it can be asked at least.
    """
    words = [value for name, value in arguments.items() if isinstance(value, str) and name != "example"]
    n_asked = n_refused = 0
    for seed in SEEDS:
        example = sample(seed)
        missing = [word for word in words if word not in example.subject.labels]
        expected = None if missing else reference(example, **arguments)
        assert _outcome(function, seed, arguments, jitter=JITTER) == _outcome(function, seed, arguments), seed
        try:
            key = function.work(example.subject, **arguments)
        except PremiseError as error:
            n_refused += 1
            assert expected is None, f"seed {seed}: {error}"
            continue
        n_asked += 1
        if n_asked > ENOUGH and (n_refused >= 5 or not refuses):
            break
        assert expected is not None, f"seed {seed}: {key.right}"
        _assert_right(key, expected, seed)
        _assert_says_why(function, key, example.subject)
    assert n_asked >= asks and (n_refused >= 5) is refuses, (n_asked, n_refused, "both happen, and are seen")


def _outcome(function: Function, seed: int, arguments: Mapping[str, Any], jitter: float = 0.0) -> Any:
    """Return the right answers, or why nothing is asked."""
    try:
        right = function.work(sample(seed, jitter).subject, **arguments).right
    except PremiseError as error:
        return error.code
    return {round(answer, 6) + 0.0 if isinstance(answer, float) else answer for answer in right}


def _assert_right(key: Key, expected: Any, seed: int) -> None:
    if isinstance(expected, float):
        assert list(key.right) == pytest.approx([expected], abs=1e-6), seed
    else:
        assert set(key.right) == (expected if isinstance(expected, set) else {expected}), seed


def _assert_says_why(function: Function, key: Key, subject: Subject) -> None:
    """Assert that every wrong answer has a reason that the function has announced."""
    n_heads, n = subject.trace.weights.shape[:2]
    possible: dict[str, Iterable[AnswerValue]] = {
        "word": range(n),
        "head": [(layer, head) for layer in range(subject.n_layers) for head in range(n_heads)],
        "cell": [(row, column) for row in range(n) for column in range(n)],
        "option": function.codes,
        "order": [tuple(reversed(function.codes))],
        "mask": [True],
        "sentence": [True],
    }
    for answer in set(possible.get(function.kind, ())) - set(key.right):
        assert key.wrong(answer)[0] in function.reasons
    assert set(key.traps) <= set(function.reasons)
