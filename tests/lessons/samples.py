"""Random sentences with random heads, some of which do what questions ask for; and their weights by numpy."""

from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np
import torch

from viz.core.heads import HeadWeights, merge_heads
from viz.core.spec import AttentionSpec
from viz.lessons.subject import Subject

WORDS = (
    *("it", "animal", "street", "它", "动物", "路", "a", "b", "c", "d", "e", "f", "g"),
    *("dog", "was", "too", "tired", "cat", "saw"),
)
H, G, D_K, D_V, D_MODEL, LAYERS = 6, 3, 5, 7, 11, 3


@dataclass(frozen=True)
class Sample:
    """What a question is asked about; by numpy the weights of every layer (L, H, Q, K), and the lengths of values."""

    subject: Subject
    weights: np.ndarray
    lengths: np.ndarray


@cache
def sample(seed: int, words: tuple[str, ...] = WORDS) -> Sample:
    """A sentence of 1 to 14 words between two marks, in which three layers of heads look around."""
    random, generator = Random(seed), torch.Generator().manual_seed(seed)
    chosen = random.sample(words[:6], random.choice([0, 2, 4, 6])) + random.choices(words[6:], k=random.randint(1, 8))
    random.shuffle(chosen)
    n = len(chosen) + 2
    spec = AttentionSpec(d_model=D_MODEL, n_heads=H, n_kv_heads=G, d_head=D_K, d_value=D_V)
    weights, sharpness = HeadWeights.random(spec, seed=seed), random.choice([0.0, 0.5, 2.0])

    def draw(*sizes: int) -> torch.Tensor:
        return torch.randn(*sizes, generator=generator, dtype=torch.float64)

    layers, by_numpy = [], []
    for _ in range(LAYERS):
        q, k, v = sharpness * draw(H, n, D_K), draw(G, n, D_K), draw(G, n, D_V) * draw(G, n, 1).abs()
        bias = _bias(random, n)
        w_o = weights.w_o.double()
        given = HeadWeights(spec=spec, w_q=weights.w_q, w_k=weights.w_k, w_v=weights.w_v, w_o=w_o)
        x = draw(n, D_MODEL)
        layers.append(merge_heads(q, k, v, given, x=x, memory=x, bias=bias))
        scores = np.einsum("hqd,hkd->hqk", q.numpy(), np.repeat(k.numpy(), H // G, 0)) / D_K**0.5 + bias.numpy()
        exps = np.exp(scores - scores.max(-1, keepdims=True))
        by_numpy.append(exps / exps.sum(-1, keepdims=True))
    layer, head = random.randrange(LAYERS), random.randrange(H)
    trace = layers[layer]
    w_o = trace.projections.w_o.view(H, D_V, -1)
    each = np.einsum("hkd,hdo->hko", np.repeat(trace.v.numpy(), H // G, 0), w_o.numpy())
    subject = Subject(
        labels=("[CLS]", *chosen, "[SEP]"),
        special=(True, *[False] * len(chosen), True),
        trace=trace,
        layer=layer,
        n_layers=LAYERS,
        weights_of=lambda asked: layers[asked].weights,
        chosen={"head": head},
    )
    return Sample(subject, np.stack(by_numpy), np.sqrt((each**2).sum(-1)))


def _bias(random: Random, n: int) -> torch.Tensor:
    """What makes heads of a layer look at the word before, at the first token, or at nothing in particular."""
    kind = random.choice(["none", "first", "previous", "itself", "beside"])
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
