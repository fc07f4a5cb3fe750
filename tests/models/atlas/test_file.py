"""The packaged atlases: their metadata, and their numbers against a new computation."""

from collections import Counter
from dataclasses import replace
from datetime import date

import pytest
import torch
from torch.testing import assert_close

from tools.atlas.encoding import encode_atlas
from viz.core.analysis.atlas.evidence import gather
from viz.core.analysis.atlas.scores import SENTENCES
from viz.models.atlas.copying import score_copying
from viz.models.atlas.corpus import read_lines, repeated_tokens, sentences
from viz.models.atlas.file import SCALE, SHIPPED, path_of, read, shipped
from viz.models.atlas.make import score_by_chance, score_lines
from viz.models.atlas.passes import score_repeats, score_texts
from viz.models.atlas.random_weights import SEEDS
from viz.models.registry import find

TOLERANCE = 0.5 / SCALE + 2e-5
"""The error of rounding, and the difference of float32 between two machines."""
LINES = 3


def atlas_of(model, corpus):
    return read(path_of(model, corpus).read_text("utf-8"))


@pytest.fixture(params=SHIPPED, ids=[model for model, _ in SHIPPED])
def atlas_key(request):
    return request.param


def test_file_names_model_corpus_date(atlas_key):
    model, corpus = atlas_key
    atlas = atlas_of(model, corpus)
    assert path_of(model, corpus).stat().st_size <= 200_000
    assert (atlas.model, atlas.corpus, atlas.lines) == (model, corpus, sentences(corpus))
    assert atlas.sha256 == find(model).sha256
    assert date.fromisoformat(atlas.made) <= date.today()
    assert atlas.seeds == SEEDS
    assert {score.mean.shape for score in atlas.scores.values()} == {atlas.size}
    assert {score.chance.shape for name, score in atlas.scores.items() if name != "removal"} == {(len(SEEDS),)}


def test_file_round_trips(atlas_key):
    text = path_of(*atlas_key).read_text("utf-8")
    assert encode_atlas(read(text)) == text


def test_file_of_other_sentences_is_refused():
    text = path_of(*SHIPPED[0]).read_text("utf-8")
    with pytest.raises(ValueError, match="other sentences"):
        read(text.replace('"digest": "', '"digest": "0'))


def test_file_requires_exact_weights(minilm):
    assert shipped(minilm, "en") is not None and shipped(minilm, "zh") is None
    assert shipped(replace(minilm, entry=replace(minilm.entry, sha256="0")), "en") is None
    assert shipped(replace(minilm, is_packaged=True), "en") is None


def test_largest_random_heads_equal_recomputed(minilm, monkeypatch):
    """The page states the largest score of several random models; one of them is drawn head by head."""
    monkeypatch.setattr("viz.models.atlas.passes.window_score", lambda weights, _: torch.zeros(len(weights)))
    atlas = atlas_of(*SHIPPED[0])
    for name, values in score_by_chance(minilm, atlas.lines, SEEDS[0]).items():
        if name != "window":
            means, score = gather(values.flatten(1)).mean, atlas.scores[name]
            assert abs(float(means.max() - score.chance[0])) < TOLERANCE, name
            assert_close(score.random.flatten(), means, rtol=0, atol=TOLERANCE, msg=name)


def test_minilm_means_equal_recomputed(minilm, monkeypatch):
    monkeypatch.setattr("viz.models.atlas.passes.window_score", lambda weights, _: torch.zeros(len(weights)))
    atlas = atlas_of(*SHIPPED[0])
    values = score_texts(minilm, read_lines(minilm, atlas.lines)) | score_repeats(minilm, repeated_tokens(minilm))
    for name in (*SENTENCES, "duplicate", "induction"):
        actual, stored_scores = gather(values[name].flatten(1)), atlas.scores[name]
        assert actual.n == stored_scores.n
        assert_close(actual.mean, stored_scores.mean.flatten(), rtol=0, atol=TOLERANCE, msg=name)
        assert_close(actual.half, stored_scores.half.flatten(), rtol=1e-3, atol=TOLERANCE, msg=name)


@pytest.mark.long
@pytest.mark.parametrize("model", ["e5", "smollm2"])
def test_extreme_sentences_equal_recomputed(model, request):
    checked_model = request.getfixturevalue(model)
    atlas = atlas_of(*next(key for key in SHIPPED if key[0] == checked_model.entry.id))
    of_lines = {name: score for name, score in atlas.scores.items() if name in (*SENTENCES, "window")}
    extreme = [int(i) for score in of_lines.values() for i in torch.cat([score.low, score.high]).flatten()]
    numbers = [number for number, _ in Counter(extreme).most_common(LINES)]
    again = score_lines(checked_model, [atlas.lines[number] for number in numbers])
    n_values = 0
    for name, score in of_lines.items():
        for texts, values in ((score.low, score.low_values), (score.high, score.high_values)):
            for at, number in enumerate(numbers):
                there = texts == number
                expected = again[name][at].expand(there.shape)[there]
                assert_close(values[there], expected, rtol=0, atol=10 * TOLERANCE, msg=f"{name}: {atlas.lines[number]}")
                n_values += int(there.sum())
    assert n_values > 60


def test_smollm2_induction_heads_equal_earlier_measurement(smollm2):
    """Measured once on fifty random tokens, repeated, with transformers' own eager attention."""
    expected = {(18, 6): 0.92, (17, 3): 0.78, (17, 4): 0.71, (17, 5): 0.62, (18, 7): 0.59, (23, 2): 0.51, (23, 7): 0.48}
    means = score_repeats(smollm2, repeated_tokens(smollm2, 1, 50))["induction"]
    for (layer, head), weight in expected.items():
        assert abs(float(means.mean(0)[layer, head]) - weight) < 0.15
    stored_scores = atlas_of("SmolLM2-135M-Instruct", "en").scores["induction"]
    assert all(stored_scores.labelled[place] for place in expected)
    best = {divmod(int(i), 9) for i in stored_scores.mean.flatten().topk(5).indices}
    assert best <= expected.keys()


def test_smollm2_copying_equals_recomputed(smollm2):
    stored_scores = atlas_of("SmolLM2-135M-Instruct", "en").scores["copying"]
    assert_close(
        gather(score_copying(smollm2)["copying"].flatten(1)).mean, stored_scores.mean.flatten(), rtol=0, atol=1e-3
    )
