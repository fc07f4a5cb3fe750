"""Mistakes in positions, and in heads with a window."""

from dataclasses import replace

import torch

from tests.pages.faults.fault import Fault
from viz.core import positions
from viz.core.analysis import (
    plane_fit,
    window_fit,
)
from viz.core.mistakes import relative as mistaken_windows
from viz.core.variants import encodings, relative


def _rope(right, x, *, base=10_000.0, pairing, positions=None):
    places = torch.arange(x.shape[-2]) if positions is None else positions
    return right(x, base=base, pairing=pairing, positions=-places)


FAULTS = {
    # Positions
    "sine and cosine exchanged": Fault(
        function=positions.sinusoidal,
        wrong=lambda right, *a, **o: right(*a, **o).unflatten(-1, (-1, 2)).flip(-1).flatten(-2),
        places=("sinusoids", "encodings", "step"),
    ),
    "other frequencies": Fault(
        function=positions.frequencies,
        wrong=lambda right, width, *, base=10_000.0: 2 * right(width, base=base),
        places=("sinusoids", "step", "rope", "encodings"),
    ),
    "RoPE backwards": Fault(function=positions.rope, wrong=_rope, places=("rope", "encodings")),
    "RoPE with the other pairing": Fault(
        function=positions.rope,
        wrong=lambda right, x, *, pairing, **o: right(
            x, pairing="halves" if pairing == "adjacent" else "adjacent", **o
        ),
        places=("rope", "encodings"),
    ),
    "RoPE at half the speed": Fault(
        function=positions.rope,
        wrong=lambda right, x, *, base=10_000.0, pairing, positions=None: right(
            x,
            base=base,
            pairing=pairing,
            positions=(torch.arange(x.shape[-2]) if positions is None else positions) // 2,
        ),
        places=("rope", "encodings"),
    ),
    "ALiBi without its absolute value": Fault(
        function=positions.alibi,
        wrong=lambda _, h, n, m: -positions.alibi_slopes(h)[:, None, None] * positions.offsets(n, m).float(),
        places=("encodings", "shuffle"),
    ),
    "ALiBi twice as steep": Fault(
        function=positions.alibi_slopes, wrong=lambda right, h: 2 * right(h), places=("encodings", "shuffle")
    ),
    "T5's directions exchanged": Fault(
        function=positions.t5_buckets, wrong=lambda right, offset, **o: right(-offset, **o), places=("encodings",)
    ),
    "T5's last bucket begins at 64": Fault(
        function=positions.t5_buckets,
        wrong=lambda right, offset, **o: right(offset, **o | {"max_distance": 64}),
        places=("encodings, a longer text",),
    ),
    "no scale in the table that is added": Fault(
        function=encodings.Encoding.scale_table,
        wrong=lambda right, self, gain: right(self, 2 * gain),
        places=("encodings",),
    ),
    "a bias from content of the next distance": Fault(
        function=encodings.content_bias,
        wrong=lambda right, states, profiles: right(states, profiles.roll(1, -1)),
        places=("encodings",),
    ),
    "a shuffle that is not undone": Fault(
        function=encodings.restore_order, wrong=lambda _, weights, order: weights, places=("shuffle",)
    ),
    # Convolution
    "query minus key": Fault(
        function=relative.shifts,
        wrong=lambda right, *grid: -right(*grid),
        places=(
            *("windows", "picture", "difference"),
            *("slip, farthest", "slip, mirrored", "slip, too narrow"),
        ),
    ),
    "a window without its square": Fault(
        function=relative.quadratic_scores,
        wrong=lambda right, *a: -right(*a).abs().sqrt(),
        places=("windows", "picture", "sharpness"),
    ),
    "a head without its centre": Fault(
        function=relative.position_vectors,
        wrong=lambda right, offset, *rest: right(0 * offset, *rest),
        places=("slip, farthest", "slip, worked pair"),
    ),
    "a slip that is none": Fault(
        function=mistaken_windows.shift_for_centre,
        wrong=lambda right, *rest: -right(*rest),
        places=("slip, farthest",),
    ),
    "a sign that is not turned": Fault(
        function=mistaken_windows.query_minus_key, wrong=lambda _, heads: heads, places=("slip, mirrored",)
    ),
    "narrow heads that are one wider": Fault(
        function=mistaken_windows.narrow_heads,
        wrong=lambda right, kernel, d_v, **o: right(kernel, d_v + 1, **o),
        places=("slip, too narrow",),
    ),
    "a kernel turned over its diagonal": Fault(
        function=relative.heads_from_kernel,
        wrong=lambda right, kernel, **o: right(kernel.transpose(-1, -2) if kernel.ndim == 4 else kernel.flip(-1), **o),
        places=("kernel in W_O", "difference"),
    ),
    "a window that explains more than it does": Fault(
        function=window_fit.fit_layers,
        wrong=lambda right, *a: tuple(replace(fit, explained_share=fit.explained_share.roll(1)) for fit in right(*a)),
        places=("likeness",),
    ),
    "a window on a picture that explains more than it does": Fault(
        function=plane_fit.fit_planes,
        wrong=lambda right, *a: replace(fit := right(*a), explained_share=(fit.explained_share + 1) / 2),
        places=("vision", "vision, its training"),
    ),
    "down for right": Fault(
        function=plane_fit.fit_planes,
        wrong=lambda right, *a: replace(fit := right(*a), offset=fit.offset.flip(-1)),
        places=("vision",),
    ),
}
