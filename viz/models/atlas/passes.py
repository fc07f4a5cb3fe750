"""Scores of every head on many texts: texts of one length are one batch, so that none is padded."""

from collections.abc import Iterator, Mapping, Sequence

import torch
from torch import Tensor

from viz.core.analysis.atlas.scores import REPEATED, SENTENCES, WINDOW, repeated_scores, sentence_scores, window_score
from viz.core.analysis.map_statistics import uniform
from viz.models.atlas.corpus import Text
from viz.models.attention_interface import recording
from viz.models.layout import LoadedModel

TEXTS, REPEATS = (*SENTENCES, WINDOW), REPEATED
"""Names of the scores on sentences, and of those on repeated random tokens."""
BATCH_TOKENS = 400
"""Of one batch: enough for a matrix product to be worth while, and 270 maps of each text are small."""


def allowed_of(model: LoadedModel, n: int) -> Tensor:
    """Mask of the first stack, (n, n), for texts shorter than any window of it: causal in a decoder."""
    everywhere = torch.ones(n, n, dtype=torch.bool)
    return everywhere.tril() if model.layers[0].layout.stack == "decoder" else everywhere


def maps_of(model: LoadedModel, texts: Sequence[Text]) -> Iterator[tuple[int, Tensor]]:
    """Every text's number and its maps, (L, H, T, T), batch after batch."""
    by_length: dict[int, list[int]] = {}
    for number, text in enumerate(texts):
        by_length.setdefault(len(text.ids), []).append(number)
    for length, numbers in by_length.items():
        size = max(1, BATCH_TOKENS // length)
        for first in range(0, len(numbers), size):
            batch = numbers[first : first + size]
            maps = _run(model, torch.stack([texts[number].ids for number in batch]))
            yield from zip(batch, maps.unbind(1), strict=True)


def _run(model: LoadedModel, ids: Tensor) -> Tensor:
    """The maps of a batch of texts, (L, B, H, T, T)."""
    stack, full_model = model.layers[0].layout.stack, model.model
    runs = full_model.get_encoder() if full_model.config.is_encoder_decoder else full_model.base_model
    options = {"use_cache": False} if stack == "decoder" else {}
    if model.layers[0].layout.maps_only:
        with torch.inference_mode():
            return torch.stack(runs(input_ids=ids, return_dict=True, output_attentions=True, **options).attentions)
    with torch.inference_mode(), recording({}, maps=True) as recorder:
        runs(input_ids=ids, return_dict=True, **options)
        layers = [layer for layer in model.layers if layer.layout.stack == stack]
        return torch.stack([recorder.weights[id(layer.attention)] for layer in layers])


def score_texts(model: LoadedModel, texts: Sequence[Text]) -> dict[str, Tensor]:
    """The scores of sentences: for each name (S, L, H); NaN where a text has nothing to score."""
    scores_by_text: dict[int, Mapping[str, Tensor]] = {}
    for number, maps in maps_of(model, texts):
        scores_by_text[number] = _scores(maps.flatten(0, 1), texts[number], allowed_of(model, maps.shape[-1]))
        size = maps.shape[:2]
    return {
        name: torch.stack([scores_by_text[i][name] for i in range(len(texts))]).unflatten(1, size) for name in TEXTS
    }


def _scores(maps: Tensor, text: Text, visible: Tensor) -> dict[str, Tensor]:
    return {
        **sentence_scores(maps, text.ids, text.special, text.marks, visible),
        WINDOW: window_score(maps, visible),
    }


def score_repeats(model: LoadedModel, texts: Sequence[Text]) -> dict[str, Tensor]:
    """The scores of random tokens that are repeated, likewise."""
    maps_by_text = {number: (maps.shape[:2], maps.flatten(0, 1)) for number, maps in maps_of(model, texts)}
    scores_by_size = [
        (maps_by_text[i][0], repeated_scores(maps_by_text[i][1], text.ids)) for i, text in enumerate(texts)
    ]
    return {name: torch.stack([scores[name].unflatten(0, size) for size, scores in scores_by_size]) for name in REPEATS}


def score_even(model: LoadedModel, texts: Sequence[Text], *, repeats: bool = False) -> dict[str, Tensor]:
    """Score a head with uniform attention on each text, (S,)."""
    scores_by_text = []
    for text in texts:
        visible = allowed_of(model, len(text.ids))
        spread = uniform(visible)[None]
        if repeats:
            scores_by_text.append(repeated_scores(spread, text.ids))
            continue
        scores = sentence_scores(spread, text.ids, text.special, text.marks, visible)
        # Windows are compared with it.
        scores_by_text.append({**scores, WINDOW: torch.zeros(1)})
    return {
        name: torch.stack([scores[name][0] for scores in scores_by_text]) for name in (REPEATS if repeats else TEXTS)
    }
