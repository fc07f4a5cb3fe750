"""Benchmarks beside a reference: ``python -m bench``. One run, one table.

The load of the machine stands below each section: what others do slows both sides, hardly their ratio.

Each section is a function that yields rows; to add one, add it to ``SECTIONS``. No test asserts a time.
"""

import itertools
import os
import platform
import sys
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn
from torch.testing import assert_close

from bench import controls, convolution, grid, positions, reruns, share_kv, visit
from bench.table import Row, interleaved
from viz import limits
from viz.core.heads import HeadWeights, multi_head
from viz.core.spec import AttentionSpec
from viz.models import registry
from viz.models.capture import capture
from viz.models.load import load

LENGTHS = (16, 128, 512)


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
            mine, torch_ms = interleaved(ours, theirs)
        yield Row(what=f"multi_head / nn.MultiheadAttention, n = {n}", ours=mine, theirs=torch_ms, goal=1.3)


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
        mine, eager_ms = interleaved(ours, theirs)
        yield Row(what=f"capture / eager output_attentions, text in, n = {n}", ours=mine, theirs=eager_ms, goal=1.3)


SECTIONS: tuple[Callable[[], Iterator[Row]], ...] = (
    heads,
    captures,
    *visit.SECTIONS,
    *reruns.SECTIONS,
    *controls.SECTIONS,
    *grid.SECTIONS,
    *convolution.SECTIONS,
    *positions.SECTIONS,
    *share_kv.SECTIONS,
)


def main() -> None:
    """Run the sections named on the command line, or all of them."""
    sections = {section.__name__: section for section in SECTIONS}
    if unknown := set(sys.argv[1:]) - set(sections):
        sys.exit(f"No section is called {', '.join(sorted(unknown))}. There are: {', '.join(sections)}.")
    torch.set_num_threads(limits.TORCH_THREADS)
    print(  # noqa: T201
        f"Python {platform.python_version()}, torch {torch.__version__} with {torch.get_num_threads()} threads, "
        f"{os.cpu_count()} cores; medians, taken in turn; goals are for the ratio\n"
        f"{'':<58} {'ours':>9} {'theirs':>9} {'':<3} {'ratio':>7}  goal"
    )
    for name in sys.argv[1:] or sections:
        for row in sections[name]():
            print(row, flush=True)  # noqa: T201
        print(f"{'':<58} load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
