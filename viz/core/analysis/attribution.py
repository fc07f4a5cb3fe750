"""Direct logit attribution: the logit at one token as a sum over everything added to the residual stream.

Elhage et al. 2021: a pre-norm decoder only ever adds to its stream, and the vocabulary head reads the sum. The scale of
the final norm, which divides it, is held at its value on this text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from viz.core.norm import NormWeights


@dataclass(frozen=True, kw_only=True)
class StreamParts:
    """Everything added to one token's stream, in L layers of H heads.

    ``embedding`` (d_model) is what the first layer reads, ``heads`` (L, H, d_v) what each head hands to W_O,
    ``w_o`` of each layer (H, d_v, d_model), ``biases`` (L, d_model) those of W_O (zeros where there are none),
    ``feed_forward`` (L, d_model) what each feed-forward network adds, its own bias included.
    """

    embedding: Tensor
    heads: Tensor
    w_o: Sequence[Tensor]
    biases: Tensor
    feed_forward: Tensor

    @property
    def attention(self) -> Tensor:
        """Sum of what each layer's heads add, with W_O's bias, (L, d_model), in float64."""
        layers = zip(self.heads.double(), self.w_o, strict=True)
        heads = torch.stack([torch.einsum("hv,hvd->d", z, w_o.double()) for z, w_o in layers])
        return heads + self.biases.double()

    @property
    def stream(self) -> Tensor:
        """Sum of all parts, which the final norm reads, (d_model,), in float64."""
        return self.embedding + self.attention.sum(0) + self.feed_forward.double().sum(0)


@dataclass(frozen=True, kw_only=True)
class Attribution:
    """A logit, or the difference of two, part by part, in float64.

    ``embedding`` is one number, ``heads`` (L, H), ``biases`` (L,) those of the heads' W_O, ``feed_forward`` (L,).
    ``constant`` is what no part of the stream brings: the final norm's shift and the vocabulary head's bias.
    """

    embedding: float
    heads: Tensor
    biases: Tensor
    feed_forward: Tensor
    constant: float

    @property
    def total(self) -> float:
        """The sum of all parts."""
        return self.embedding + float(self.heads.sum() + self.biases.sum() + self.feed_forward.sum()) + self.constant

    def parts(self) -> Iterator[tuple[str, int, int, float]]:
        """Each part: its kind, its layer and head (-1 where it has none), and its number."""
        yield "embedding", -1, -1, self.embedding
        for layer, row in enumerate(self.heads.tolist()):
            yield from (("head", layer, head, value) for head, value in enumerate(row))
        for kind, values in (("bias", self.biases), ("feed_forward", self.feed_forward)):
            yield from ((kind, layer, -1, value) for layer, value in enumerate(values.tolist()))
        yield "constant", -1, -1, self.constant


def final_norm_direction(
    direction: Float[Tensor, " d_model"], x: Float[Tensor, " d_model"], weights: NormWeights, *, centred: bool
) -> Float[Tensor, " d_model"]:
    r"""Direction the vocabulary head reads, carried back through the final norm with its scale held at ``x``'s.

    .. math:: r = (g \odot u - \overline{g \odot u}) / \sigma(x) \quad\text{so that}\quad
              u \cdot N(x) = r \cdot x + u \cdot s

    A norm of the root mean square (Llama's) takes no mean away, from x or from r.

    Args:
        direction: u, a word's column of W_U, or the difference of two.
        x: the stream in front of the norm.
        weights: the final norm's gain g, shift s and epsilon.
        centred: True for layer norm, False for the root mean square.

    Example:
        >>> final_norm_direction(torch.tensor([1.0, 0.0]), torch.tensor([3.0, 3.0]),
        ...                NormWeights(gain=torch.tensor([6.0, 1.0]), eps=0.0), centred=False)
        tensor([2., 0.], dtype=torch.float64)
    """
    r, x = direction.double() * weights.gain.double(), x.double()
    if centred:
        r, x = r - r.mean(), x - x.mean()
    return r / (x.square().mean() + weights.eps).sqrt()


def attribute(
    parts: StreamParts, direction: Float[Tensor, " d_model"], weights: NormWeights, *, centred: bool, bias: float = 0.0
) -> Attribution:
    r"""Split a logit into what each part of the stream wrote into it.

    .. math:: u \cdot N\Big(\sum_p x_p\Big) + b = \sum_p r \cdot x_p + u \cdot s + b

    Args:
        parts: the parts :math:`x_p`.
        direction: u, a word's column of W_U, or the difference of two.
        weights: the final norm's.
        centred: whether that norm takes the mean away.
        bias: b, the vocabulary head's own for this word, or the difference of two.
    """
    r = final_norm_direction(direction, parts.stream, weights, centred=centred)
    shift = 0.0 if weights.shift is None else float(direction.double() @ weights.shift.double())
    layers = zip(parts.heads.double(), parts.w_o, strict=True)
    return Attribution(
        embedding=float(parts.embedding.double() @ r),
        heads=torch.stack([(z * (w_o.double() @ r)).sum(-1) for z, w_o in layers]),
        biases=parts.biases.double() @ r,
        feed_forward=parts.feed_forward.double() @ r,
        constant=shift + bias,
    )
