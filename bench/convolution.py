"""Numbers of the Convolution page for ``python -m bench``: what generality costs, and frames while dragging."""

import time
from collections.abc import Callable, Iterator
from statistics import median
from urllib.parse import urlencode

import torch
from torch import nn
from torch.testing import assert_close

from bench.reruns import opened
from bench.table import Row, interleaved
from tests.browser.drive import wait_run
from viz.core.variants.relative import axial_layer, heads_from_kernel

SIDE = 64
FRAME = 1000 / 60
SECTIONS_DRAGGED = {"windows": "64 tokens, 3 heads", "picture": "a picture, 9 heads"}
DRAG = """async (root) => {
    const view = root.heads, times = [];
    let last = null;
    for (let i = 0; i < 90; i++) {
        view.change((choice) => {
            if (choice.deltas) choice.deltas[0] = Math.sin(i / 9) * 5;
            else choice.offsets[5] = [Math.sin(i / 9), Math.cos(i / 9)];
        });
        const now = await new Promise(requestAnimationFrame);
        if (last !== null) times.push(now - last);
        last = now;
    }
    return times;
}"""


def conv2d() -> Iterator["Row"]:
    """The layer at 64 x 64 with nine heads beside Conv2d, and the cheaper way, which uses that a Gaussian factors.

    Multiply-adds: Conv2d P k^2; full attention H P^2 (P pixels, H = k^2 heads), so the ratio is P = 4096; rows after
    columns H P (rows + columns), a ratio of 128.
    """
    generator = torch.Generator().manual_seed(0)
    image, kernel = torch.rand(1, SIDE, SIDE, generator=generator), torch.randn(1, 1, 3, 3, generator=generator)
    heads = heads_from_kernel(kernel, alpha=46.0)
    layer = nn.Conv2d(1, 1, 3, padding=1, padding_mode="replicate", bias=False)
    layer.weight.data = kernel
    with torch.inference_mode():
        expected = layer(image[None])[0]
        for run in (heads.layer, lambda x: axial_layer(heads, x)):
            assert_close(run(image), expected, rtol=0, atol=1e-5)
        start = time.perf_counter()
        heads.layer(image)  # seconds: once more is enough
        full_ms = (time.perf_counter() - start) * 1000
        ours, theirs = interleaved(lambda: axial_layer(heads, image), lambda: layer(image[None]))
        yield Row(what="3 x 3 on 64 x 64: full attention, H P^2 / Conv2d", ours=full_ms, theirs=theirs)
        yield Row(what="3 x 3 on 64 x 64: rows after columns / Conv2d", ours=ours, theirs=theirs)


def dragging() -> Iterator["Row"]:
    """A frame while a centre is dragged, of a sentence's heads and of a picture's; against 60 a second."""
    with opened("app") as page:
        home, text = page.url.rpartition("/")[0], " ".join(["street"] * 62)
        for section, what in SECTIONS_DRAGGED.items():
            page.goto(f"{home}/convolution?{urlencode({'section': section, 'text': text})}")
            wait_run(page)
            times = page.locator(".quadratic").evaluate(DRAG)
            yield Row(what=f"a frame while dragging, {what}", ours=median(times), theirs=FRAME, goal=1.1)


SECTIONS: tuple[Callable[[], Iterator["Row"]], ...] = (conv2d, dragging)
