"""The goals of the long text, measured: ``python -m tests.bench_long [tokens]``, one figure a line.

SmolLM2 reads the text with torch's own attention and nothing kept, then with q and k kept; each pass in its turn, three
times, the fastest of each counts. Memory is the process's highest beyond the model and the tokens.
"""

import os
import resource
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import torch

from viz.core.long.rows import window
from viz.core.long.streamed import long_map
from viz.models import load
from viz.models.attention_interface import recording
from viz.models.long.capture import long_capture
from viz.models.tokens import read_text

TIMES = 3


def fastest(*ways: Callable[[], object]) -> list[float]:
    """Seconds of each way, taken in turn."""
    best = [float("inf")] * len(ways)
    for _ in range(TIMES):
        for i, way in enumerate(ways):
            began = time.perf_counter()
            way()
            best[i] = min(best[i], time.perf_counter() - began)
    return best


def peak() -> float:
    """The most that was resident, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def resident() -> float:
    """What is resident now, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def maps() -> None:
    """Seeded heads of width 64, and a window into the last."""
    for n in (8_192, 32_768):
        q, k = torch.randn(2, n, 64, generator=torch.Generator().manual_seed(0))
        for causal in (True, False):
            began, worked = time.perf_counter(), time.process_time()
            found = long_map(q, k, scale=0.125, causal=causal)
            took = time.perf_counter() - began, time.process_time() - worked
            print(f"map, {n} tokens, causal {causal}: {took[0]:.2f} s, {took[1]:.2f} s of them at work")  # noqa: T201
        cut = fastest(partial(window, q, k, found.rows.log_sum, row=n // 2, column=n // 3, scale=0.125, causal=False))
        print(f"window of 256 x 256, {n} tokens: {cut[0] * 1e3:.1f} ms")  # noqa: T201


def passes(n: int) -> None:
    """SmolLM2 with torch's own attention, and with q and k kept."""
    model = load("SmolLM2-135M-Instruct")
    words = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf8")
    tokens = read_text(model.tokenizer, words * 20, n)
    ids = torch.tensor([tokens.ids])
    before = resident()
    kept = long_capture(model, tokens)
    held = sum(layer.q.nbytes + layer.k.nbytes + layer.witness.nbytes for layer in kept.layers) / 1e6
    print(f"{len(tokens.ids)} tokens: {peak() - before:.0f} MB at most above the model, {held:.0f} MB of it kept")  # noqa: T201
    del kept
    base = model.model.base_model

    def plain() -> None:
        config, own = base.config, base.config._attn_implementation
        config._attn_implementation = "sdpa"
        try:
            with torch.inference_mode(), recording({}):
                base(input_ids=ids, use_cache=False)
        finally:
            config._attn_implementation = own

    own, ours = fastest(plain, lambda: long_capture(model, tokens))
    print(f"pass: sdpa {own:.2f} s, with q and k kept {ours:.2f} s, {ours / own:.3f} times")  # noqa: T201


if __name__ == "__main__":
    torch.set_num_threads(1)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, one thread")  # noqa: T201
    maps()
    passes(int(sys.argv[1]) if len(sys.argv) > 1 else 4_096)
