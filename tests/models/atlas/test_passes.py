"""Scores of many texts at once are those of one text after the other; random weights earn no labels."""

import json

import pytest
import torch
from torch.testing import assert_close

from tests import checkpoints
from tests.checkpoints import SENTENCES, eager
from tests.models.atlas.referee import DETECTORS, FILE, TWINS, save_gpt2
from viz.core.analysis.atlas.scores import repeated_scores, sentence_scores
from viz.core.analysis.atlas.summary import labels_of
from viz.core.masks import causal
from viz.models.atlas.copying import WORDS, sample_words, score_copying
from viz.models.atlas.corpus import LENGTH, SEQUENCES, Text, read_lines, repeated_tokens, sentences
from viz.models.atlas.make import BY_CHANCE, assemble, make, score_by_chance, score_lines, score_without_text
from viz.models.atlas.passes import TEXTS, maps_of, score_texts
from viz.models.atlas.random_weights import SEEDS, random_weights
from viz.models.capture import capture
from viz.models.load import load


@pytest.fixture
def no_windows(monkeypatch):
    """Skip window scores, which are slow and give no label, and use only four texts of random tokens."""
    monkeypatch.setattr("viz.models.atlas.corpus.SEQUENCES", 4)
    monkeypatch.setattr("viz.models.atlas.passes.window_score", lambda weights, allowed: torch.zeros(len(weights)))


@pytest.mark.parametrize("name", ["bert", "gpt2", "llama", "distilbert"])
def test_batch_maps_equal_transformers(name, load_family, checkpoint):
    model, texts = load_family(name), read_lines(load_family(name), (*SENTENCES, *SENTENCES[::-1]))
    reference = eager(name, checkpoint(name))
    batch_maps = dict(maps_of(model, texts))
    assert sorted(batch_maps) == list(range(8)), "each text once, whatever batch it came in"
    for number, maps in batch_maps.items():
        with torch.inference_mode():
            weights = reference(input_ids=texts[number].ids[None], output_attentions=True).attentions
        # A batch sums in another order.
        assert_close(maps, torch.cat(list(weights)), rtol=0, atol=1e-5)


def test_encoder_decoder_is_scored_by_encoder(load_family):
    model = load_family("t5")
    (maps,) = (maps for _, maps in maps_of(model, read_lines(model, SENTENCES[:1])))
    text_capture = capture(model, SENTENCES[0])
    for i, layer in enumerate(maps):
        assert_close(layer, text_capture.layer(i, stack="encoder").weights, rtol=0, atol=1e-6)


def test_the_order_of_lines_is_kept(load_family):
    model = load_family("bert")
    together = score_texts(model, read_lines(model, SENTENCES))
    alone = [score_texts(model, read_lines(model, [line])) for line in SENTENCES]
    for name in TEXTS:
        assert_close(
            together[name], torch.cat([each_line[name] for each_line in alone]), equal_nan=True, atol=1e-5, rtol=0
        )


def test_random_tokens_repeat_between_special_tokens(minilm):
    texts = repeated_tokens(minilm)
    assert len(texts) == SEQUENCES
    for text in texts:
        ids = text.ids.tolist()
        assert (ids[0], ids[-1]) == (minilm.tokenizer.cls_token_id, minilm.tokenizer.sep_token_id)
        assert ids[1 : LENGTH + 1] == ids[LENGTH + 1 : -1] and len(set(ids)) == LENGTH + 2
        assert text.special.nonzero().flatten().tolist() == [0, 2 * LENGTH + 1]


def test_random_weights_share_only_words(minilm):
    before = {name: value.clone() for name, value in minilm.model.state_dict().items()}
    random_model = random_weights(minilm)
    words = minilm.model.get_input_embeddings().weight
    assert random_model.model.get_input_embeddings().weight is words
    for (name, mine), theirs in zip(minilm.model.named_parameters(), random_model.model.parameters(), strict=True):
        assert_close(mine, before[name], rtol=0, atol=0)
        assert theirs is mine if mine is words else not torch.equal(mine, theirs) or not mine.any(), name
    assert {id(layer.attention) for layer in random_model.layers}.isdisjoint(
        id(layer.attention) for layer in minilm.layers
    )


def test_random_weights_get_few_labels(minilm, no_windows):
    """Untrained models are labelled with the hurdles of another random model."""
    lines = sentences("en")[::29]
    by_chance = {seed: score_by_chance(minilm, lines, seed) for seed in SEEDS}
    labels = []
    for seed in (11, 12):
        random_model = random_weights(minilm, seed)
        random_atlas = assemble(
            random_model, "en", lines, [score_lines(random_model, lines)], score_without_text(random_model), by_chance
        )
        layers, heads = random_atlas.size
        labels += [labels_of(random_atlas.scores, layer, head) for layer in range(layers) for head in range(heads)]
    assert len(labels) == 144
    assert sum(map(bool, labels)) <= 1
    minilm_atlas = assemble(minilm, "en", lines, [score_lines(minilm, lines)], score_without_text(minilm), by_chance)
    assert labels_of(minilm_atlas.scores, 0, 2) == ["previous"], "the same rule finds what is there"
    assert labels_of(minilm_atlas.scores, 1, 8)[0] == "next"


def test_random_decoder_gets_no_label(load_family, no_windows):
    # All its weights are random with a large scale.
    model = load_family("llama")
    atlas = make(model, "en", sentences("en")[: BY_CHANCE // 2])
    labels = [labels_of(atlas.scores, layer, head) for layer in range(2) for head in range(6)]
    assert not any(labels)


def test_twin_induction_heads_beat_random_weights(no_windows):
    model = load("twin-g8")
    atlas = make(model, "en", sentences("en")[:5])
    labels = atlas.scores["induction"].labelled
    assert labels[1].any() and not labels[0].any(), "what came next is found in the second layer"
    assert atlas.scores["previous"].labelled[0].any(), "and the token before in the first"


def test_copying_equals_product_of_matrices(load_family):
    """W_V and W_O between the two norms, word by word, in float64."""
    model = load_family("llama")
    words = sample_words(model)
    copying = score_copying(model)["copying"]
    assert copying.shape == (min(WORDS, len(words)), 2, 6)
    core, rows = model.model.model, model.model.lm_head.weight[words].double()
    layer, head, word = 1, 5, 3
    block = core.layers[layer]

    def rms(x, norm):
        return x / (x.square().mean() + norm.variance_epsilon).sqrt() * norm.weight.double()

    x = rms(core.embed_tokens.weight[words[word]].double(), block.input_layernorm)
    group = head * 2 // 6
    v = block.self_attn.v_proj.weight.double()[group * 10 : group * 10 + 10] @ x
    output = block.self_attn.o_proj.weight.double()[:, head * 10 : head * 10 + 10] @ v
    logits = rows @ rms(output, core.norm)
    beaten = (logits < logits[word]).sum() / (len(words) - 1)
    # Two words may tie in float32.
    assert_close(copying[word, layer, head], beaten.float(), rtol=0, atol=0.011)


def test_encoder_has_no_copying_score(minilm):
    assert score_copying(minilm) == {}


# --- TransformerLens ---------------------------------------------------------------------------------------------

RECORD = json.loads(FILE.read_text("utf-8"))["models"]


@pytest.mark.parametrize("name", ["gpt2", *TWINS])
def test_scores_equal_transformer_lens(name, tmp_path):
    model = checkpoints.open_folder(save_gpt2(tmp_path / "gpt2")) if name == "gpt2" else load(name)
    record = RECORD[name]
    no = [torch.zeros(len(text["ids"])).bool() for text in record]
    read = [Text(torch.tensor(text["ids"]), none, none) for text, none in zip(record, no, strict=True)]
    differences = []
    for number, maps in maps_of(model, read):
        text, n = read[number], len(read[number].ids)
        heads = maps.flatten(0, 1)
        plain = sentence_scores(heads, text.ids, text.special, text.marks, causal(n, n))
        by_name = {"previous": plain["previous"], **repeated_scores(heads, text.ids)}
        for score in DETECTORS:
            theirs = torch.tensor(record[number][score]).flatten()
            # TransformerLens divides by all rows of the text, Headlight by the rows with such a token.
            rows = n - (1 if score == "previous" else len(text.ids.unique()))
            assert_close(by_name[score] * rows / n, theirs, rtol=0, atol=1e-5)
            differences.append(float(theirs.max()))
    assert len(differences) == 3 * len(DETECTORS)
    assert max(differences) > 0.1, "something is there to be found"
