"""How fast, beside what it should be compared with: ``python -m tests.bench``. One run, one table.

Each section is a function that yields rows; to add one, add it to ``SECTIONS``. No test asserts a time.
"""

import itertools
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import torch
from playwright.sync_api import Browser, Page, sync_playwright
from torch import nn
from torch.testing import assert_close

from tests import bench_convolution, bench_grid, bench_positions, bench_share_kv
from tests.browser.drive import FLAGS, MISSING, PATIENCE, ROOT, WIDE, find_browser, listen, serve, wait_run
from viz import limits
from viz.core.heads import HeadWeights, multi_head
from viz.core.spec import AttentionSpec
from viz.models import registry
from viz.models.capture import capture
from viz.models.load import load

LENGTHS = (16, 128, 512)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line: our time and the other's, in one unit, and the largest ratio that is still good, if there is one."""

    what: str
    ours: float
    theirs: float
    unit: str = "ms"
    goal: float | None = None

    def __str__(self) -> str:
        ratio = self.ours / self.theirs
        verdict = "" if self.goal is None else f"<= {self.goal:.4g}  {'pass' if ratio <= self.goal else 'FAIL'}"
        return f"{self.what:<58} {self.ours:9.2f} {self.theirs:9.2f} {self.unit:<3} {ratio:7.2f}  {verdict}"


def interleaved(ours: Callable[[], Any], theirs: Callable[[], Any], seconds: float = 4.0) -> tuple[float, float]:
    """Medians in ms, taken in turn, so that a slow moment of the machine hits both."""
    times: tuple[list[float], list[float]] = ([], [])
    for run in (ours, theirs) * 3:
        run()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 9:
        for run, taken in zip((ours, theirs), times, strict=True):
            start = time.perf_counter()
            run()
            taken.append((time.perf_counter() - start) * 1000)
    return median(times[0]), median(times[1])


def heads() -> Iterator[Row]:
    """``multi_head``, which keeps every step, beside torch's own layer, which keeps the weights."""
    spec = AttentionSpec(d_model=512, n_heads=8)
    mha = nn.MultiheadAttention(spec.d_model, spec.n_heads, batch_first=True).eval()
    (w_q, w_k, w_v), (b_q, b_k, b_v) = (part.detach().chunk(3) for part in (mha.in_proj_weight, mha.in_proj_bias))
    weights = HeadWeights(
        spec=spec, w_q=w_q.T, w_k=w_k.T, w_v=w_v.T, w_o=mha.out_proj.weight.detach().T,
        b_q=b_q, b_k=b_k, b_v=b_v, b_o=mha.out_proj.bias.detach(),
    )  # fmt: skip
    for n in LENGTHS:
        x = torch.randn(n, spec.d_model, generator=torch.Generator().manual_seed(n))

        def theirs(x: torch.Tensor = x) -> Any:
            return mha(x[None], x[None], x[None], need_weights=True, average_attn_weights=False)

        def ours(x: torch.Tensor = x) -> Any:
            return multi_head(x, x, weights)

        with torch.inference_mode():
            assert_close(ours().output, theirs()[0][0], atol=1e-5, rtol=1e-4)
            assert_close(ours().weights, theirs()[1][0], atol=1e-5, rtol=1e-4)
            mine, others = interleaved(ours, theirs)
        yield Row(what=f"multi_head / nn.MultiheadAttention, n = {n}", ours=mine, theirs=others, goal=1.3)


def captures() -> Iterator[Row]:
    """``capture`` beside the same model's own eager forward, loaded apart; both start from text and tokenise it."""
    import transformers

    entry = registry.entries()[0]
    folder = entry.local_folder()
    model = load(entry.id)
    eager = transformers.AutoModel.from_pretrained(folder, attn_implementation="eager", dtype=torch.float32).eval()
    for n in LENGTHS:
        text = " ".join(itertools.islice(itertools.cycle(("the", "animal", "crossed", "a", "street")), n - 2))

        def theirs(text: str = text) -> Any:
            with torch.inference_mode():
                return eager(**model.tokenizer(text, return_tensors="pt"), output_attentions=True)

        def ours(text: str = text) -> Any:
            return capture(model, text)

        assert len(ours().tokens.ids) == n
        assert_close(ours().layer(3).weights, theirs().attentions[3][0], atol=1e-5, rtol=1e-4)
        mine, others = interleaved(ours, theirs)
        yield Row(what=f"capture / eager output_attentions, text in, n = {n}", ours=mine, theirs=others, goal=1.3)


BARE = "import streamlit as st\nst.text(st.slider('n', 0, 99, key='layer'))\n"
DRAWN = """
const drawn = () => {  // what the views' canvases show across their middle, or the bare page's number; '' while nothing
  const found = [], seek = (root) => {
    for (const node of root.querySelectorAll('*')) {
      if (node.shadowRoot) seek(node.shadowRoot);
      if (bare && node.matches('[data-testid=stText]')) found.push(node.textContent);
      if (bare || root === document || !node.matches('canvas') || !node.width || !node.height) continue;
      const strip = node.getContext('2d').getImageData(0, node.height >> 1, node.width, 2);
      const sum = new Uint32Array(strip.data.buffer).reduce((sum, pixel) => (sum * 31 + pixel) | 0, 0);
      if (sum) found.push(sum);
    }
  };
  seek(document);
  return found.join(' ');
};
"""
"""Paint: this has changed, and one more frame and one task have passed."""


def _drawn(script: Path) -> str:
    return f"const bare = {str(script.name == 'bare.py').lower()}; {DRAWN}"


def _first_paint(browser: Browser, script: Path, folder: Path) -> float:
    """Seconds from the start of the server's process to the first picture, in a browser that has nothing cached."""
    start = time.perf_counter()
    with serve(script, folder / "log.txt") as server:
        page = browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]}).new_page()
        page.goto(server.url)
        page.wait_for_function(f"() => {{ {_drawn(script)} return drawn() !== '' }}", polling="raf", timeout=PATIENCE)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
        taken = time.perf_counter() - start
        page.context.close()
    return taken


def _click_to_paint(page: Page, script: Path, repeats: int = 10) -> float:
    """Milliseconds from a key on the layer slider to the changed picture, median of visits to two layers, both warm."""
    thumb = page.locator(".st-key-layer input[type=range]")
    taken = []
    for number in range(repeats + 2):
        wait_run(page)
        page.wait_for_timeout(1000)
        page.evaluate(f"""() => {{ {_drawn(script)} const before = drawn();
            window.painted = new Promise((done) => addEventListener('keydown', (event) => {{
                const look = () => drawn() === before ? requestAnimationFrame(look)
                    : requestAnimationFrame(() => setTimeout(() => done(performance.now() - event.timeStamp)));
                requestAnimationFrame(look);
            }}, {{ once: true, capture: true }})) }}""")
        thumb.press("ArrowLeft" if number % 2 else "ArrowRight")
        taken.append(page.evaluate("() => window.painted"))
    return median(taken[2:])


def paints() -> Iterator[Row]:
    """The app beside a bare Streamlit page with one slider and one number on it, in the same browser."""
    executable = find_browser()
    if executable is None:
        print(MISSING)  # noqa: T201
        return
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder, app = Path(name), ROOT / "app.py"
        bare = folder / "bare.py"
        bare.write_text(BARE)
        browser = playwright.chromium.launch(executable_path=executable, args=list(FLAGS))
        starts = [[_first_paint(browser, script, folder) for script in (app, bare)] for _ in range(3)]
        mine, others = (median(each) for each in zip(*starts, strict=True))
        yield Row(what="server start to first painted heads / bare page", ours=mine, theirs=others, unit="s")
        clicks = []
        for script in (app, bare):
            with serve(script, folder / "log.txt") as server:
                page = listen(browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]}).new_page())
                page.goto(server.url)
                wait_run(page)
                clicks.append(_click_to_paint(page, script))
                page.context.close()
        yield Row(what="layer slider to changed picture / bare page", ours=clicks[0], theirs=clicks[1])
        browser.close()


SECTIONS: tuple[Callable[[], Iterator[Row]], ...] = (
    heads,
    captures,
    paints,
    *bench_grid.SECTIONS,
    *bench_convolution.SECTIONS,
    *bench_positions.SECTIONS,
    *bench_share_kv.SECTIONS,
)


def main() -> None:
    """Run the sections named on the command line, or all of them."""
    torch.set_num_threads(limits.TORCH_THREADS)
    print(  # noqa: T201
        f"Python {platform.python_version()}, torch {torch.__version__} with {torch.get_num_threads()} threads, "
        f"{os.cpu_count()} cores; medians, taken in turn; goals are for the ratio\n"
        f"{'':<58} {'ours':>9} {'theirs':>9} {'':<3} {'ratio':>7}  goal"
    )
    for section in SECTIONS:
        if section.__name__ in (sys.argv[1:] or [section.__name__]):
            for row in section():
                print(row, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
