"""Parts that are named as the cause of a weight: do another text's parts halve it too, more than four others do?

    python -m bench.why [all-MiniLM-L6-v2 twin-g8 ...] [--edges 200]

Edges are drawn among those with a weight of at least 0.3. A part is named by its share and by an exchange within its
own text; here it is exchanged for the parts of words of other texts, and so are four drawn others of its side.
Then the time of an edge in the last layer, at 16, 64 and 256 tokens, beside that of a pass.
"""

import argparse
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from statistics import median

import torch

from viz.core.analysis.score_parts import CAUSES, ScoringHead
from viz.errors import ModelError
from viz.models import Capture, capture
from viz.models.atlas.corpus import sentences
from viz.models.layers.score_parts import LEAST, explain, scoring_heads
from viz.models.load import load
from viz.models.trained.twins import REPEATING, Recipe, repeated, words

MODELS = ("all-MiniLM-L6-v2", "twin-g8", "multilingual-e5-small", "SmolLM2-135M-Instruct")
LEAST_WEIGHT, RIVALS, TEXTS = 0.3, 4, 8
SIZES = (16, 64, 256)
SHORT = Recipe(length=24, shortest_period=5, longest_period=12)


@dataclass
class Counts:
    """Edges that were split, causes by their kinds, and how many halve the weight, and change it more than others."""

    n_edges: int = 0
    n_halves: int = 0
    n_firsts: int = 0
    kinds: Counter[str] = field(default_factory=Counter)


def texts_of(name: str, generator: torch.Generator) -> list[str]:
    """Sentences of the corpus, or for a twin words that come again."""
    if name.startswith("twin"):
        vocabulary = words()
        rows = repeated(TEXTS - 1, SHORT, generator)[0] % len(vocabulary)
        return [REPEATING, *(" ".join(vocabulary[word] for word in row) for row in rows.tolist())]
    long = [line for line in sentences("en") if len(line.split()) > 7]
    return [long[at] for at in torch.randperm(len(long), generator=generator)[:TEXTS].tolist()]


def draw_edges(
    read: Capture, heads: Callable[[int], Sequence[ScoringHead]], n: int, generator: torch.Generator
) -> list[tuple[int, int, int, int]]:
    """Layer, head, query and key of at most n edges between words."""
    edges = [
        (layer, head, i, j)
        for layer in range(read.n_layers)
        for head, i, j in (read.layer(layer).weights >= LEAST_WEIGHT).nonzero().tolist()
        if {i, j} <= set(heads(layer)[0].plain)
    ]
    return [edges[at] for at in torch.randperm(len(edges), generator=generator)[:n].tolist()]


def measure(name: str, n_edges: int) -> Counts:
    """Count over a model's edges."""
    model, generator, counts = load(name), torch.Generator().manual_seed(0), Counts()
    captures = [capture(model, text) for text in texts_of(name, generator)]
    all_heads = cache(lambda text, layer: scoring_heads(model, captures[text], layer))
    for text, read in enumerate(captures):
        for layer, number, *ends in draw_edges(read, partial(all_heads, text), n_edges // TEXTS, generator):
            head, donor, edge = all_heads(text, layer)[number], all_heads(text - 1, layer)[number], (ends[0], ends[1])
            try:
                reason = explain(head, edge)
            except ModelError:
                continue
            counts.n_edges += reason.total >= LEAST
            if reason.is_cause:
                besides = [part for part in reason.sides[reason.side] if part.kind in CAUSES and part != reason.part]
                rivals = [besides[at] for at in torch.randperm(len(besides), generator=generator)[:RIVALS].tolist()]
                after, *after_rivals = (
                    head.exchange(edge, reason.side, part, donor.writes(part)[list(donor.plain)])
                    for part in (reason.part, *rivals)
                )
                counts.kinds[reason.part.kind] += 1
                counts.n_halves += after <= reason.weight / 2
                counts.n_firsts += all(after < rival for rival in after_rivals)
    return counts


def milliseconds(work: Callable[[], object]) -> float:
    """Median time of five calls."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        times.append(1000 * (time.perf_counter() - start))
    return median(times)


def time_edge(name: str, n: int) -> str:
    """Milliseconds of one edge in the last layer, and of the pass over n tokens."""
    model, vocabulary = load(name), words()
    text = " ".join(vocabulary[at % len(vocabulary)] for at in range(5 * n))
    read = capture(model, text, max_tokens=n)
    layer = read.n_layers - 1
    scoring = scoring_heads(model, read, layer)
    plain = list(scoring[0].plain)
    query = plain[-1]
    row = read.layer(layer).weights[:, query, plain]
    head, key = divmod(int(row.argmax()), len(plain))
    edge = query, plain[key]
    times = (
        milliseconds(lambda: explain(scoring[head], edge)),
        milliseconds(lambda: capture(model, text, max_tokens=n)),
    )
    return f"{n:4} tokens: {times[0]:7.1f} ms an edge, {times[1]:7.1f} ms a pass"


def main() -> None:
    """Print the counts and the times of each model."""
    parser = argparse.ArgumentParser(prog="python -m bench.why", description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--edges", type=int, default=200)
    options = parser.parse_args()
    with torch.inference_mode():
        for name in options.models:
            counts = measure(name, options.edges)
            kinds = ", ".join(f"{kind} {n}" for kind, n in counts.kinds.items())
            print(  # noqa: T201
                f"{name}: of {counts.n_edges} edges {counts.kinds.total()} have a cause ({kinds}); "
                f"{counts.n_halves} halve the weight, {counts.n_firsts} do more than {RIVALS} others"
            )
            for n in SIZES:
                print(time_edge(name, n))  # noqa: T201


if __name__ == "__main__":
    main()
