"""Cost of a whole model: parameters, operations for a text, keys and values kept, and attention's share."""

from dataclasses import dataclass

from viz.core.cost.attention import (
    FLOPS_PER_MULTIPLY_ADD,
    Parts,
    at_least_one,
    attention_flops,
    kv_cache_bytes,
    parameters,
    shortest,
)
from viz.core.spec import AttentionSpec


@dataclass(frozen=True, kw_only=True)
class ModelSpec:
    """The sizes of a stack of Transformer blocks.

    ``gated`` feed-forward layers have three matrices instead of two. ``positions``: rows of a learned table of
    positions, 0 where there is none. ``tied``: no output matrix of its own. ``bias``: which linear layers have one, of
    "qkv", "o", "ff". ``norms``: normalisations in all, ``norm_bias`` if they have a shift. ``pooler``: one more d x d
    layer on top, used for the first token. ``window``: queries of ``windowed_layers`` layers look back this far only.
    """

    attention: AttentionSpec
    n_layers: int
    d_ff: int
    vocabulary: int
    gated: bool = False
    positions: int = 0
    segments: int = 0
    tied: bool = True
    bias: frozenset[str] = frozenset()
    norms: int = 0
    norm_bias: bool = False
    pooler: bool = False
    window: int | None = None
    windowed_layers: int = 0
    decoder: bool = True

    def __post_init__(self) -> None:
        at_least_one(n_layers=self.n_layers, d_ff=self.d_ff, vocabulary=self.vocabulary)


@dataclass(frozen=True, kw_only=True)
class ModelParameters(Parts):
    """Numbers a model has learned, by part."""

    embeddings: int
    attention: int
    feed_forward: int
    norms: int
    top: int


@dataclass(frozen=True, kw_only=True)
class ModelFlops(Parts):
    """Operations for one text, by part: ``projections`` are W_Q, W_K, W_V, W_O, ``pairs`` are QKᵀ and AV."""

    projections: int
    pairs: int
    feed_forward: int
    output: int

    @property
    def attention_share(self) -> float:
        """Share of attention in all operations."""
        return (self.projections + self.pairs) / self.total


def _matrices(m: ModelSpec) -> int:
    return 3 if m.gated else 2


def model_parameters(m: ModelSpec) -> ModelParameters:
    """Count a model's parameters; equal to ``sum(p.numel() for p in model.parameters())``.

    Example:
        GPT-2 has 124 million.

        >>> gpt2 = ModelSpec(
        ...     attention=AttentionSpec(d_model=768, n_heads=12), n_layers=12, d_ff=3072, vocabulary=50257,
        ...     positions=1024, bias=frozenset({"qkv", "o", "ff"}), norms=25, norm_bias=True,
        ... )
        >>> model_parameters(gpt2).total
        124439808
    """
    a, d = m.attention, m.attention.d_model
    qkv, o, ff = (name in m.bias for name in ("qkv", "o", "ff"))
    biases = (a.H * a.d_k + a.G * (a.d_k + a.d_v) if qkv else 0) + (a.d_out if o else 0)
    one_ff = _matrices(m) * d * m.d_ff + ((_matrices(m) - 1) * m.d_ff + d if ff else 0)
    return ModelParameters(
        embeddings=(m.vocabulary + m.positions + m.segments) * d,
        attention=m.n_layers * (parameters(a).total + biases),
        feed_forward=m.n_layers * one_ff,
        norms=m.norms * d * (2 if m.norm_bias else 1),
        top=(0 if m.tied else m.vocabulary * d) + (d * d + d if m.pooler else 0),
    )


def visible_keys(m: ModelSpec, n: int) -> int:
    """Keys a query sees at most, added up over the layers: a window ends it."""
    near = n if m.window is None else min(n, m.window)
    return m.windowed_layers * near + (m.n_layers - m.windowed_layers) * n


def model_flops(m: ModelSpec, *, n_tokens: int) -> ModelFlops:
    r"""Count the operations of one pass over a text; a multiply-add is 2.

    .. math:: 2 n \left( P + 2 H d_k\, n L + F \right)

    with P and F the weights of the projections and of the feed-forward layers. Every (query, key) pair is counted,
    also those a causal mask forbids: ordinary kernels compute them. Not counted: norms, activations, softmax, look-ups,
    BERT's pooler.

    Raises:
        ValueError: if ``n_tokens`` is below 1.
    """
    at_least_one(n_tokens=n_tokens)
    a, n = m.attention, n_tokens
    layer = attention_flops(a, n_queries=n, n_keys=n)
    pair = (layer.scores + layer.mixing) // (n * n)
    return ModelFlops(
        projections=m.n_layers * (layer.q + layer.k + layer.v + layer.output),
        pairs=pair * n * visible_keys(m, n),
        feed_forward=FLOPS_PER_MULTIPLY_ADD * n * m.n_layers * _matrices(m) * a.d_model * m.d_ff,
        output=FLOPS_PER_MULTIPLY_ADD * n * a.d_model * m.vocabulary if m.decoder else 0,
    )


def overtakes(m: ModelSpec) -> int | None:
    r"""Find the shortest text for which attention takes at least as many operations as the feed-forward layers.

    .. math:: n^* = \lceil (F - P) / (2 H d_k L) \rceil

    where P and F are the weights of all projections and feed-forward layers. None where a window keeps it below for
    ever.
    """

    def heavier(n: int) -> bool:
        flops = model_flops(m, n_tokens=n)
        return flops.projections + flops.pairs >= flops.feed_forward

    return shortest(heavier)


def model_kv_bytes(m: ModelSpec, *, n_tokens: int, bytes_per_value: int = 2) -> int:
    """Count the bytes of a model's keys and values for one text; windowed layers keep their window only."""
    of_a_token = kv_cache_bytes(m.attention, n_tokens=1, n_layers=1, bytes_per_value=bytes_per_value)
    return of_a_token * visible_keys(m, n_tokens)
