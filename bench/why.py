"""Parts that the split of a score names: does exchanging them halve the weight, more than other parts do?

    python -m bench.why [all-MiniLM-L6-v2 twin-g8 ...] [--edges 200]

Edges are drawn among those with a weight of at least 0.3, in layers above the first. A part that is half of the
contrast is exchanged for what the text's other words have there, and so are four drawn heads on the same side.
"""

import argparse
import time
from statistics import median

import torch

from viz.core.analysis.score_parts import Part, ScoreParts, ScoringHead, contrast_weights, split_score
from viz.core.analysis.score_parts.exchange import exchange_part
from viz.models import Capture, capture
from viz.models.layers.score_parts import scoring_heads, visible_tokens, words_of
from viz.models.load import load

MODELS = ("all-MiniLM-L6-v2", "twin-g8", "multilingual-e5-small", "SmolLM2-135M-Instruct")
TEXTS = {
    "twin-g8": (
        "the cat saw a red bird and the dog ran home . the cat saw a red",
        "door milk cat door milk cat door milk cat door",
        "a small boy had a blue ball . the boy gave the ball to a small",
    )
}
SENTENCES = (
    "The animal didn't cross the street because it was too tired.",
    "The quick brown fox jumps over the lazy dog.",
    "Paris is the capital of France and Berlin is the capital of Germany.",
    "She put the key on the table and then she took the key again.",
)
LEAST_WEIGHT = 0.3
RIVALS = 4


def draw_edges(read: Capture, n: int, generator: torch.Generator) -> list[tuple[int, int, int, int]]:
    """Layer, head, query and key of at most n edges between words."""
    edges: list[tuple[int, int, int, int]] = []
    for layer in range(1, read.n_layers):
        words, weights = words_of(read, layer), read.layer(layer).weights
        strong = (weights >= LEAST_WEIGHT).nonzero().tolist()
        edges += ((layer, head, i, j) for head, i, j in strong if i in words and j in words)
    return [edges[k] for k in torch.randperm(len(edges), generator=generator)[:n].tolist()]


def exchange(read: Capture, head: ScoringHead, layer: int, query: int, key: int, part: Part) -> float:
    """Mean weight with a part exchanged for that of each other word."""
    at = query if part.side == "query" else key
    donors = torch.tensor([word for word in words_of(read, layer) if word != at])
    return float(exchange_part(head, query, key, part, donors, visible_tokens(read, layer, query)).mean())


def draw_rivals(split: ScoreParts, part: Part, generator: torch.Generator) -> list[Part]:
    """Other heads on a part's side."""
    heads = [rival for rival in split.side(part.side) if rival.kind == "head" and rival != part]
    return [heads[k] for k in torch.randperm(len(heads), generator=generator)[:RIVALS].tolist()]


def measure(name: str, n_edges: int) -> str:
    """Count over a model's edges; one line."""
    model, generator = load(name), torch.Generator().manual_seed(0)
    texts = TEXTS.get(name, SENTENCES)
    n_split = n_halved = n_beaten = 0
    main_parts: list[Part] = []
    times: list[float] = []
    for text in texts:
        read = capture(model, text)
        heads: dict[int, tuple[ScoringHead, ...]] = {}
        for layer, number, query, key in draw_edges(read, n_edges // len(texts), generator):
            visible = visible_tokens(read, layer, query)
            against = [word for word in words_of(read, layer) if visible[word] and word != key]
            if not against:
                continue
            if layer not in heads:
                heads[layer] = scoring_heads(model, read, layer)
            head, start = heads[layer][number], time.perf_counter()
            split = split_score(head, query, contrast_weights(len(visible), key, against))
            times.append(time.perf_counter() - start)
            n_split += split.contrast >= 1
            if split.contrast < 1 or (part := split.main_part()) is None:
                continue
            main_parts.append(part)
            after = exchange(read, head, layer, query, key, part)
            n_halved += after <= float(read.layer(layer).weights[number, query, key]) / 2
            rivals = draw_rivals(split, part, generator)
            n_beaten += all(after < exchange(read, head, layer, query, key, rival) for rival in rivals)
    kinds = ", ".join(f"{kind} {sum(part.kind == kind for part in main_parts)}" for kind in ("word", "place", "head"))
    return (
        f"{name:24} edges {n_split:4}  named {len(main_parts):4} ({kinds})  halved {n_halved:4}  "
        f"more than {RIVALS} heads {n_beaten:4}  {1000 * median(times):6.1f} ms an edge"
    )


def main() -> None:
    """Print a line for each model."""
    parser = argparse.ArgumentParser(prog="python -m bench.why", description=__doc__.partition("\n")[0])
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--edges", type=int, default=200)
    options = parser.parse_args()
    with torch.inference_mode():
        for name in options.models:
            print(measure(name, options.edges))  # noqa: T201


if __name__ == "__main__":
    main()
