"""Attention modules that take the place of a Llama layer's: standard, with sinks, gated, latent, and the delta rule.

Each computes with the functions of ``viz.core`` and keeps the map of its last pass in ``weights`` (B, H, T, T).
"""

from typing import Any

import torch
from torch import Tensor, nn

from viz.core.attention import AttentionTrace, attend
from viz.core.heads import concat_heads, split_heads
from viz.core.masks import causal
from viz.core.norm import NormWeights, rms_norm
from viz.core.positions import rope
from viz.core.variants.today.delta import decay_steps, delta_map, delta_outputs, to_unit_length
from viz.core.variants.today.gates import output_gate
from viz.core.variants.today.latent import LatentSpec, LatentWeights, attend_latent

START = 0.02
"""Standard deviation of every matrix at the start of training, as transformers' Llama has it."""


def turn(x: Tensor) -> Tensor:
    """Turn queries or keys by position, as Llama does."""
    return rope(x, pairing="halves")


class StandardAttention(nn.Module):
    """Attention of a Llama layer with as many key/value heads as query heads, on the layer's weights."""

    def __init__(self, llama: Any, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = llama.q_proj, llama.k_proj, llama.v_proj, llama.o_proj
        self.weights = torch.empty(0)

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> AttentionTrace:
        """Attend behind a causal mask."""
        return attend(turn(q), turn(k), v, allowed=causal(q.shape[-2], q.shape[-2]))

    def heads(self, x: Tensor) -> Tensor:
        """Return what each head gives, (B, H, T, d)."""
        q, k, v = (split_heads(project(x), self.n_heads) for project in (self.q_proj, self.k_proj, self.v_proj))
        trace = self.attend(q, k, v)
        self.weights = trace.weights.detach()
        return trace.output

    def forward(self, hidden_states: Tensor, **_: Any) -> tuple[Tensor, None]:
        """Run in a Llama layer."""
        output: Tensor = self.o_proj(concat_heads(self.heads(hidden_states)))
        return output, None


class SinkAttention(StandardAttention):
    """The same with a learned sink for each head, 0 at the start: off by one."""

    def __init__(self, llama: Any, n_heads: int) -> None:
        super().__init__(llama, n_heads)
        self.sinks = nn.Parameter(torch.zeros(n_heads))

    def attend(self, q: Tensor, k: Tensor, v: Tensor) -> AttentionTrace:
        """Attend behind a causal mask, with the sinks."""
        return attend(turn(q), turn(k), v, allowed=causal(q.shape[-2], q.shape[-2]), sink=self.sinks)


class GatedAttention(StandardAttention):
    """The same with a gate for each number of each head's output."""

    def __init__(self, llama: Any, n_heads: int) -> None:
        super().__init__(llama, n_heads)
        self.gate = nn.Parameter(START * torch.randn(self.q_proj.in_features, self.v_proj.out_features))

    def heads(self, x: Tensor) -> Tensor:
        """Return what passes the gates."""
        return super().heads(x) * output_gate(x, self.gate, self.n_heads)


class LatentAttention(nn.Module):
    """Latent attention of the same head widths: 32 + 8 numbers cached a token, where Llama's heads have 2 d_model."""

    D_LATENT, D_ROPE = 32, 8

    def __init__(self, llama: Any, n_heads: int) -> None:
        super().__init__()
        d_model = llama.q_proj.in_features
        d_head = llama.q_proj.out_features // n_heads
        self.spec = LatentSpec(
            d_model=d_model, n_heads=n_heads, d_latent=self.D_LATENT, d_nope=d_head, d_rope=self.D_ROPE,
            d_value=d_head,
        )  # fmt: skip
        # Only the shapes and the norm's gain are taken of it.
        initial = LatentWeights.random(self.spec, seed=0)
        tensors = {name: value for name, value in vars(initial).items() if isinstance(value, Tensor)}
        matrices = {name: START * torch.randn(value.shape) for name, value in tensors.items() if value.ndim == 2}
        self.learned = nn.ParameterDict({name: nn.Parameter(value) for name, value in (tensors | matrices).items()})
        self.weights = torch.empty(0)

    def forward(self, hidden_states: Tensor, **_: Any) -> tuple[Tensor, None]:
        """Run in a Llama layer."""
        learned: dict[str, Any] = dict(self.learned.items())
        causal_mask = causal(hidden_states.shape[-2], hidden_states.shape[-2])
        trace = attend_latent(hidden_states, LatentWeights(spec=self.spec, **learned), turn=turn, allowed=causal_mask)
        self.weights = trace.attention.weights.detach()
        return trace.output, None


class DeltaAttention(nn.Module):
    """The gated delta rule as Qwen 3-Next has it: a short convolution, unit keys, a decay, a norm and a gate.

    Half as many heads as the layer has, twice as wide: as many numbers, and maps take less time to train.

    ``weights`` is its map, unless in training; its rows sum to anything. No position enters.
    """

    KERNEL = 4

    def __init__(self, llama: Any, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads = n_heads // 2
        self.q_proj, self.k_proj, self.v_proj, self.o_proj = llama.q_proj, llama.k_proj, llama.v_proj, llama.o_proj
        d_model, width = self.q_proj.in_features, self.q_proj.out_features
        self.convolution = nn.Conv1d(3 * width, 3 * width, self.KERNEL, groups=3 * width, padding=self.KERNEL - 1,
                                     bias=False)  # fmt: skip
        self.beta, self.decay = nn.Linear(d_model, n_heads, bias=False), nn.Linear(d_model, n_heads, bias=False)
        self.log_rate = nn.Parameter(torch.empty(n_heads).uniform_(0.01, 16).log())
        self.bias = nn.Parameter(torch.ones(n_heads))
        self.gain, self.gate = nn.Parameter(torch.ones(width // n_heads)), nn.Linear(d_model, width, bias=False)
        for linear in (self.beta, self.decay, self.gate):
            nn.init.normal_(linear.weight, std=START)
        self.weights = torch.empty(0)

    def forward(self, hidden_states: Tensor, **_: Any) -> tuple[Tensor, None]:
        """Run in a Llama layer."""
        x = hidden_states
        mixed = torch.cat([self.q_proj(x), self.k_proj(x), self.v_proj(x)], -1).mT
        mixed = nn.functional.silu(self.convolution(mixed)[..., : x.shape[-2]]).mT
        q, k, v = (split_heads(part, self.n_heads) for part in mixed.chunk(3, -1))
        steps = decay_steps(self.decay(x), self.log_rate, self.bias)
        q, k, beta = to_unit_length(q), to_unit_length(k), torch.sigmoid(self.beta(x)).mT
        if not self.training:
            self.weights = delta_map(q, k, beta=beta, steps=steps)
        heads = delta_outputs(q, k, v, beta=beta, steps=steps)
        normed = rms_norm(heads, NormWeights(gain=self.gain, eps=1e-6))
        gated = normed * nn.functional.silu(split_heads(self.gate(x), self.n_heads))
        return self.o_proj(concat_heads(gated)), None
