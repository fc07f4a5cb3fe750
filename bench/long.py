"""The goals of long texts and of the atlas, in one run, on one thread: ``python -m bench.long [tokens]``.

SmolLM2 reads the text with torch's own attention and nothing kept, then with q and k kept; each pass in its turn, three
times, the fastest of each counts. Memory is the process's highest beyond the model and the tokens. Times of one map and
of one atlas are the processor's.
"""

import os
import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch.nn.functional import avg_pool2d, max_pool2d

from viz.core.long.rows import window
from viz.core.long.streamed import long_map
from viz.models.atlas.corpus import sentences
from viz.models.atlas.make import make
from viz.models.attention_interface import recording
from viz.models.load import load
from viz.models.long.capture import long_capture
from viz.models.tokens import read_text

TIMES = 3
ATLASES = (("all-MiniLM-L6-v2", 33.0), ("SmolLM2-135M-Instruct", 190.0))


@dataclass(frozen=True)
class Goal:
    """A measurement, and the largest value that passes."""

    what: str
    value: float
    most: float
    unit: str

    def __str__(self) -> str:
        verdict = "pass" if self.value <= self.most else "FAIL"
        return f"{self.what:<72} {self.value:10.3g} <= {self.most:6.4g} {self.unit:<6} {verdict}"


def fastest(*ways: Callable[[], object]) -> list[float]:
    """Seconds of each way, taken in turn."""
    best = [float("inf")] * len(ways)
    for _ in range(TIMES):
        for i, way in enumerate(ways):
            began = time.perf_counter()
            way()
            best[i] = min(best[i], time.perf_counter() - began)
    return best


def worked(way: Callable[[], object]) -> float:
    """Seconds of the processor that it takes once."""
    began = time.process_time()
    way()
    return time.process_time() - began


def peak() -> float:
    """The most that was resident, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def resident() -> float:
    """Resident memory, in MB."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def _seeded(n: int) -> tuple[torch.Tensor, torch.Tensor]:
    q, k = torch.randn(2, n, 64, generator=torch.Generator().manual_seed(0))
    return q, k


def maps() -> Iterator[Goal]:
    """Seeded heads of width 64, a window into them, and all pooled cells beside those of a whole matrix."""
    for n, most in ((8_192, 2.0), (32_768, 10.0)):
        q, k = _seeded(n)
        for causal in (True, False):
            way = partial(long_map, q, k, scale=0.125, causal=causal)
            yield Goal(f"a head's map, {n:,} tokens, {'causal' if causal else 'both ways'}", worked(way), most, "s")
        cut = partial(window, q, k, row=n // 2, column=n // 3, scale=0.125, causal=False)
        yield Goal(f"a window of 256 x 256, {n:,} tokens", fastest(cut)[0] * 1e3, 300.0, "ms")
    q, k = _seeded(2_048)
    pooled = long_map(q, k, scale=0.125, causal=False)
    full_map = torch.softmax(0.125 * q @ k.T, -1)[None]
    for name, cells, brute in (("most", pooled.most, max_pool2d), ("mean", pooled.mean, avg_pool2d)):
        expected = brute(full_map, pooled.side)[0]
        off = ((cells - expected).abs() / expected).max().item()
        yield Goal(f"cells of 2,048 tokens, {name}: relative to the whole matrix', off by", off, 1e-5, "")


def passes(n: int) -> Iterator[Goal]:
    """SmolLM2 with torch's own attention, and with q and k kept."""
    model = load("SmolLM2-135M-Instruct")
    words = (Path(__file__).parents[1] / "CONTRIBUTING.md").read_text("utf8")
    tokens = read_text(model.tokenizer, words * 20, n)
    ids = torch.tensor([tokens.ids])
    before = resident()
    long_capture(model, tokens)
    yield Goal(f"SmolLM2, {len(tokens.ids):,} tokens: memory above the model", peak() - before, 500.0, "MB")
    base = model.model.base_model

    def plain() -> None:
        config, default_implementation = base.config, base.config._attn_implementation
        config._attn_implementation = "sdpa"
        try:
            with torch.inference_mode(), recording({}):
                base(input_ids=ids, use_cache=False)
        finally:
            config._attn_implementation = default_implementation

    default_implementation, ours = fastest(plain, lambda: long_capture(model, tokens))
    yield Goal(
        f"the same, with q and k kept ({ours:.1f} s) / sdpa alone ({default_implementation:.1f} s)",
        ours / default_implementation,
        1.2,
        "times",
    )


def atlases() -> Iterator[Goal]:
    """Every head of a model over all English sentences, as a user has it computed."""
    for name, most in ATLASES:
        model, lines = load(name), sentences("en")
        n_layers, n_heads = make(model, "en", lines[:1]).size
        what = f"the atlas of {name}: {n_layers * n_heads} heads x {len(lines)} sentences"
        yield Goal(what, worked(partial(make, model, "en", lines)), most, "s")


def main(n: int) -> int:
    """Print every goal; the exit status says whether all were reached."""
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, one thread", flush=True)  # noqa: T201
    n_missed = 0
    for part in (partial(passes, n), maps, atlases):  # the pass first: memory is the highest of the whole run
        for goal in part():
            print(goal, flush=True)  # noqa: T201
            n_missed += goal.value > goal.most
    return 1 if n_missed else 0


if __name__ == "__main__":
    torch.set_num_threads(1)
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 4_096))
