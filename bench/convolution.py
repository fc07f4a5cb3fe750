"""Numbers of the Convolution page for ``python -m bench``: what generality costs, and frames while dragging."""

import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import torch
from playwright.sync_api import sync_playwright
from torch import nn
from torch.testing import assert_close

from bench.table import Row, interleaved
from tests.browser.drive import FLAGS, PATIENCE, ROOT, WIDE, find_browser, serve
from viz.core.variants.relative import axial_layer, heads_from_kernel

SIDE = 64
FRAME = 1000 / 60
PAGE = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import streamlit as st
import torch
from viz.core.variants.relative import kernel_offsets
from viz.components.head_grid import pack
from viz.components.view import View
st.session_state['lang'] = 'en'
view = View('convolution/quadratic_heads', words='convolution.view.', colours=True)
shared = {{'sent': 0}}
n = 64
choice = {{'alphas': [2, 0.3, 0.05], 'deltas': [-1, 0, 3], 'mix': 0.5, 'head': 0, 'query': 3}}
head = {{'kind': 'sequence', 'n': n, 'labels': ['word'] * n, 'heads': ['0', '1', '2'], 'choice': choice}}
view.mount(key='words', data=pack(head | shared, {{'scores': torch.randn(3, n, n)}}).data)
cells = kernel_offsets((3, 3)).tolist()
choice = {{'offsets': cells, 'alphas': [5] * 9, 'query': [9, 9], 'head': 5, 'shared': False}}
head = {{'kind': 'picture', 'rows': 32, 'columns': 32, 'cells': cells, 'choice': choice}}
blocks = {{'image': torch.rand(32 * 32), 'kernel': torch.randn(9)}}
view.mount(key='plane', data=pack(head | shared, blocks).data)
"""
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
    """A frame while a centre is dragged: 64 tokens with three heads, 32 x 32 pixels with nine; against 60 a second."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        script = Path(folder) / "views.py"
        script.write_text(PAGE)
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        with serve(script, Path(folder) / "log") as server:
            page = browser.new_page(viewport={"width": WIDE[0], "height": WIDE[1]})
            page.goto(server.url)
            page.locator(".quadratic .plane").wait_for(timeout=PATIENCE)
            for what, part in (("64 tokens, 3 heads", ".row"), ("32 x 32 pixels, 9 heads", ".plane")):
                root = page.locator(".quadratic").filter(has=page.locator(part))
                yield Row(
                    what=f"a frame while dragging, {what}", ours=median(root.evaluate(DRAG)), theirs=FRAME, goal=1.1
                )
        browser.close()


SECTIONS: tuple[Callable[[], Iterator["Row"]], ...] = (conv2d, dragging)
