"""A layer on the user's numbers: every step by the core, and the same in plain loops as a reference."""

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from pages.step_by_step.own_numbers.numbers import Numbers, of_matrices
from viz import ASSETS
from viz.core.heads import HeadWeights, MultiHeadTrace, merge_heads, multi_head, split_heads
from viz.core.masks import causal
from viz.core.spec import AttentionSpec
from viz.frame.checks import Check, check
from viz.frame.lazy import lazy

Rows = list[list[float]]


@cache
def load_presets_file() -> Mapping[str, Any]:
    """Read the presets and puzzles of ``assets/own_numbers.toml``."""
    with (ASSETS / "own_numbers.toml").open("rb") as file:
        return MappingProxyType(tomllib.load(file))


@cache
def presets() -> Mapping[str, Numbers]:
    """Presets by name; the first is the default."""
    return MappingProxyType({name: of_matrices(p, p["n_heads"]) for name, p in load_presets_file()["preset"].items()})


@dataclass(frozen=True, kw_only=True)
class OwnExample:
    """Words, numbers, and the flag of a causal mask."""

    words: tuple[str, ...]
    numbers: Numbers
    is_causal: bool = False

    @lazy
    def inputs(self) -> dict[str, Tensor]:
        """Input matrices by name."""
        return self.numbers.matrices

    @lazy
    def trace(self) -> MultiHeadTrace:
        """Every step of the layer, by the core."""
        numbers, inputs = self.numbers, self.inputs
        mask = causal(numbers.n, numbers.n) if self.is_causal else None
        spec = AttentionSpec(d_model=numbers.d, n_heads=numbers.n_heads)
        if not numbers.is_direct:
            x, w_q, w_k, w_v, w_o = inputs.values()
            weights = HeadWeights(spec=spec, w_q=w_q, w_k=w_k, w_v=w_v, w_o=w_o)
            return multi_head(x, x, weights, allowed=mask)
        same = torch.eye(numbers.d, dtype=torch.float64)
        weights = HeadWeights(spec=spec, w_q=same, w_k=same, w_v=same, w_o=inputs["w_o"])
        q, k, v = (split_heads(inputs[name], numbers.n_heads) for name in "qkv")
        return merge_heads(q, k, v, weights, x=inputs["q"], memory=inputs["k"], allowed=mask)

    def shift(self, head: int, row: int) -> float:
        """Return what is subtracted from a row of scores before the exponential, so that its powers can be printed.

        It changes no weight. It is 0 where the row's largest exponential is from 1 to 150.
        """
        peak = float(self.trace.masked[head, row].max())
        return 0.0 if 0 <= peak <= 5 else peak

    def exponentials(self, head: int, row: int) -> list[float]:
        """Return the exponentials of a row of masked scores less their shift, and at the end their sum."""
        exps = (self.trace.masked[head, row] - self.shift(head, row)).exp()
        return [*exps.tolist(), float(exps.sum())]


def checks(example: OwnExample) -> list[Check]:
    """Compare heads with torch's attention; weights, concatenation and output with loops over the numbers."""
    trace, H = example.trace, example.numbers.n_heads
    inputs = example.inputs
    qkv = (inputs[name] if name in inputs else inputs["x"] @ inputs[f"w_{name}"] for name in "qkv")
    q, k, v = (matrix.unflatten(-1, (H, -1)).permute(1, 0, 2) for matrix in qkv)
    torchs = scaled_dot_product_attention(q, k, v, is_causal=example.is_causal)
    weights, concat, output = (torch.tensor(values, dtype=torch.float64) for values in by_loops(example))
    wide, added = (1 + float(values.abs().max()) for values in (trace.v, trace.contributions))
    return [
        check("step_by_step.own_numbers.check_torch", (torchs - trace.head_outputs).abs().max(), 1e-7 * wide),
        check("step_by_step.own_numbers.check_weights", (weights - trace.weights).abs().max(), 1e-7),
        check("step_by_step.own_numbers.check_concat", (concat - trace.concat).abs().max(), 1e-6 * wide),
        check("step_by_step.own_numbers.check_output", (output - trace.output).abs().max(), 1e-6 * added),
    ]


def by_loops(example: OwnExample) -> tuple[list[Rows], Rows, Rows]:
    """Weights of each head, their concatenation and the output, without torch or the core."""
    inputs = {name: matrix.tolist() for name, matrix in example.inputs.items()}
    d_k, heads = example.numbers.d_k, range(example.numbers.n_heads)

    def product(a: Rows, b: Rows) -> Rows:
        return [
            [math.fsum(x * y for x, y in zip(row, column, strict=True)) for column in zip(*b, strict=True)] for row in a
        ]

    q, k, v = (inputs[name] if name in inputs else product(inputs["x"], inputs[f"w_{name}"]) for name in "qkv")
    weights = []
    concat: Rows = [[] for _ in q]
    for head in heads:
        part = slice(head * d_k, (head + 1) * d_k)
        visible_keys = [range(i + 1) if example.is_causal else range(len(k)) for i in range(len(q))]
        shares = [_shares(row[part], [k[j][part] for j in visible_keys[i]], len(k)) for i, row in enumerate(q)]
        weights.append(shares)
        for i, row_output in enumerate(product(shares, [value[part] for value in v])):
            concat[i] += row_output
    return weights, concat, product(concat, inputs["w_o"])


def _shares(query: list[float], keys: Rows, n: int) -> list[float]:
    """Weights of one query on these keys; 0 on the rest of ``n``."""
    scores = [math.fsum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(len(query)) for key in keys]
    exps = [math.exp(score - max(scores)) for score in scores]
    return [exp / math.fsum(exps) for exp in exps] + [0.0] * (n - len(keys))
