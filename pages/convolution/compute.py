"""Cached computations of the Convolution page."""

from dataclasses import dataclass

import torch
from torch import Tensor

from viz.core.analysis.window_fit import WindowFit, fit_layers
from viz.core.variants.relative import axial_layer, heads_from_kernel
from viz.frame.compute import cached, read
from viz.frame.specs import Mask, Source


@dataclass(frozen=True)
class Numbers:
    """A small tensor of float32 as part of a key: a picture of at most 64 x 64 pixels, a kernel."""

    shape: tuple[int, ...]
    values: bytes

    @classmethod
    def of(cls, tensor: Tensor) -> "Numbers":
        """The numbers of a tensor."""
        return cls(tuple(tensor.shape), tensor.float().contiguous().numpy().tobytes())

    def tensor(self) -> Tensor:
        """The tensor again."""
        return torch.frombuffer(bytearray(self.values), dtype=torch.float32).reshape(self.shape)


@cached
def sharpened(picture: Numbers, kernel: Numbers, alphas: tuple[float, ...]) -> Tensor:
    """A kernel's heads on a picture, for each alpha: (alphas, channels, rows, columns)."""
    image, heads = picture.tensor(), heads_from_kernel(kernel.tensor(), alpha=1.0)
    return torch.stack([axial_layer(heads.sharpened(alpha), image) for alpha in alphas])


@cached
def windows(source: Source, mask: Mask) -> tuple[WindowFit, ...]:
    """The window closest to every head of every layer."""
    capture = read(source)
    n = len(capture.tokens.ids)
    # Never all of them at once.
    layers = (capture.layer(i, allowed=mask.allowed(n, n)) for i in range(capture.n_layers))
    return fit_layers((steps.weights, steps.masked.isfinite().any(0)) for steps in layers)
