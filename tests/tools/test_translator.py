"""The small translator: its sentences, its accuracy, and an ordinary checkpoint."""

from functools import partial
from itertools import islice

import pytest
import torch

from tests.checkpoints import open_folder, read_settings
from tools.train import translator
from viz.models import registry
from viz.models.capture import capture
from viz.models.generation import write
from viz.models.load import load

ENGLISH = "the black cat sees a small dog in the garden every day"
CHINESE = "每天那只黑猫在花园里看见一只小狗"


def test_sentences_are_equal_in_both_languages():
    pairs = list(islice(translator.sentences(3), 300))
    assert len({pair.english for pair in pairs}) > 290
    meanings = {phrase: chinese for kind in translator.words().values() for phrase, chinese in kind.items()}
    for pair in pairs:
        assert "".join(chinese for _, chinese in pair.parts) == pair.chinese
        assert all(meanings[english] == chinese for english, chinese in pair.parts)
        assert sorted(" ".join(english for english, _ in pair.parts).split()) == sorted(pair.english.split())
    first = {pair.parts[0][0] for pair in pairs if pair.english.endswith("every day")}
    assert first == {"every day"}, "when comes first in Chinese, last in English"


def test_the_tokenizer_reads_words_and_characters():
    cutter = translator.tokenizer()
    assert cutter.tokenize("The black CAT sees 猫, zebra") == ["the", "black", "cat", "sees", "猫", "<unk>", "<unk>"]
    for pair in islice(translator.sentences(4), 50):
        ids = cutter(pair.chinese).input_ids
        assert ids[-1] == cutter.eos_token_id and cutter.unk_token_id not in ids
        assert len(ids) == len(pair.chinese) + 1
        assert cutter.decode(ids, skip_special_tokens=True) == pair.chinese


def test_checkpoint_equals_registry():
    model = load("animals-en-zh")
    assert sum(parameter.numel() for parameter in model.model.parameters()) == registry.find("animals-en-zh").parameters
    assert model.tokenizer(ENGLISH).input_ids == translator.tokenizer()(ENGLISH).input_ids
    assert (model.n_layers, capture(model, ENGLISH).n_heads) == (2, 4)


def test_unseen_sentences_are_translated():
    model = load("animals-en-zh")
    assert write(model, ENGLISH, max_new=30).text == CHINESE
    pairs = list(islice(translator.sentences(99), 12))
    right = [write(model, pair.english, max_new=40).text == pair.chinese for pair in pairs]
    assert all(right)


def test_head_attends_to_source_of_character():
    text_capture = capture(load("animals-en-zh"), ENGLISH, target=CHINESE)
    weights, english = text_capture.layer(1, stack="cross").weights, text_capture.tokens.labels
    # The row of the query that writes a character.
    row_of = dict(zip(CHINESE, range(len(CHINESE)), strict=True))
    partners = {"猫": "cat", "狗": "dog", "看": "sees", "黑": "black", "花": "garden"}
    sources = [
        sum(english[int(head[row_of[character]].argmax())] == word for character, word in partners.items())
        for head in weights
    ]
    assert max(sources) >= 4


def test_command_writes_loadable_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(translator, "Recipe", partial(translator.Recipe, steps=2, batch=2))
    monkeypatch.setattr("sys.argv", ["animals-en-zh", "--folder", str(tmp_path / "again")])
    translator.main()
    assert capture(open_folder(tmp_path / "again"), ENGLISH).n_layers == 2
    for file in (tmp_path / "again").glob("*.json"):
        assert read_settings(file) == read_settings(translator.FOLDER / file.name), file.name


def test_one_seed_is_one_start():
    recipe = translator.Recipe(steps=2, batch=3)
    first, again, second = (
        translator.train(settings) for settings in (recipe, recipe, translator.Recipe(steps=2, batch=3, seed=1))
    )
    weights = [model.shared.weight for model in (first, again, second)]
    torch.testing.assert_close(weights[0], weights[1])
    with pytest.raises(AssertionError):
        torch.testing.assert_close(weights[0], weights[2])
