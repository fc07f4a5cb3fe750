"""The twins: their training and accuracy as recorded, and ordinary checkpoints."""

from dataclasses import replace
from functools import partial

import pytest
import torch

from tests.checkpoints import open_folder, read_settings
from tools.train import twins as commands
from viz.core.analysis.map_statistics import weight_at_offset
from viz.core.variants.kv_sharing import induction
from viz.models import registry
from viz.models.capture import capture
from viz.models.load import load
from viz.models.trained import twins

TEXT = "the cat saw a red bird and the dog ran home . the cat saw a red"
PARAMETERS = {8: 394_112, 2: 344_960, 1: 336_768}


def recorded_run(n_kv_heads, seed=0):
    return next(run for run in twins.runs() if (run.n_kv_heads, run.seed) == (n_kv_heads, seed))


class TestData:
    def test_rows_repeat_after_their_period(self):
        recipe = twins.Recipe()
        ids, period = twins.repeated(17, recipe, torch.Generator().manual_seed(0))
        assert ids.shape == (17, recipe.length)
        assert period.min() >= recipe.shortest_period
        assert period.max() <= recipe.longest_period
        assert len(period.unique()) > 5
        for row, p in zip(ids, period.tolist(), strict=True):
            assert torch.equal(row[p:], row[:-p])

    def test_predictable_places_follow_first_period(self):
        ids = torch.tensor([[5, 6, 7, 5, 6, 7, 5]])
        assert twins.predictable(ids, torch.tensor([3])).tolist() == [[False, False, False, True, True, True]]


class TestTokenizer:
    def test_word_is_one_token_any_case(self):
        ids = twins.tokenizer()("The animal DIDN'T cross, didn’t it?")["input_ids"]
        labels = twins.tokenizer().convert_ids_to_tokens(ids)
        assert labels == ["the", "animal", "didn't", "cross", ",", "didn't", "it", "?"]

    def test_unknown_words_are_named_once(self):
        assert twins.unknown("A cat met a zebra, a zebra and 熊猫!") == ("zebra", "熊猫")
        assert twins.unknown(TEXT) == ()

    @pytest.mark.parametrize("G", twins.GROUPS)
    def test_the_checkpoints_have_it(self, G):
        saved_tokenizer = load(twins.twin_id(G)).tokenizer
        assert (
            saved_tokenizer("A zebra saw the cat.")["input_ids"]
            == twins.tokenizer()("A zebra saw the cat.")["input_ids"]
        )


def test_training_starts_as_recorded():
    """The same seed gives the same losses, up to how this machine's threads round over 25 steps."""
    _, run = commands.train(2, replace(twins.Recipe(), steps=25), seed=0)
    assert run.steps == recorded_run(2).steps[:1]
    assert run.loss[0] == pytest.approx(recorded_run(2).loss[0], abs=2e-3)
    assert run.accuracy[0] == pytest.approx(recorded_run(2).accuracy[0], abs=2e-3)


@pytest.mark.parametrize("G", twins.GROUPS)
class TestCheckpoints:
    def test_size_equals_registry(self, G):
        model = load(twins.twin_id(G))
        assert sum(parameter.numel() for parameter in model.model.parameters()) == PARAMETERS[G]
        assert registry.find(twins.twin_id(G)).parameters == PARAMETERS[G]

    def test_measured_accuracy_equals_record(self, G):
        loss, accuracy = twins.measure(load(twins.twin_id(G)).model, twins.Recipe(), seed=10_000)
        assert loss == pytest.approx(recorded_run(G).loss[-1], abs=1e-4)
        assert accuracy == pytest.approx(recorded_run(G).accuracy[-1], abs=1e-3)

    def test_capture_has_g_kv_maps(self, G):
        text_capture = capture(load(twins.twin_id(G)), TEXT)
        assert (text_capture.n_layers, text_capture.n_heads, len(text_capture.calls[0].k)) == (2, 8, G)
        for call in text_capture.calls:
            assert call.k.shape == call.v.shape == (G, 17, 16)

    def test_previous_token_head_precedes_induction_head(self, G):
        model = load(twins.twin_id(G))
        text_capture = capture(model, TEXT)
        ids = torch.tensor(text_capture.tokens.ids)
        assert weight_at_offset(text_capture.layer(0).weights, -1).mean(-1).max() > 0.5
        assert induction(text_capture.layer(1).weights, ids).max() > 0.7
        assert induction(text_capture.layer(0).weights, ids).max() < 0.3
        assert text_capture.predictions[0].labels[0] == "bird"
        assert text_capture.predictions[0].probabilities[0] > 0.8
        off = capture(model, TEXT, heads_off=frozenset((1, head) for head in range(8)))
        assert dict(zip(off.predictions[0].labels, off.predictions[0].probabilities, strict=True)).get("bird", 0) < 0.2


POINTS = [(G, step) for G, steps in twins.POINTS.items() for step in steps]


class TestPointsOfATraining:
    def test_registry_lists_checkpoints_not_models(self):
        checkpoints = {point.id: (point.of, point.step) for point in registry.checkpoints()}
        assert checkpoints == {twins.point_id(G, step): (twins.twin_id(G), step) for G, step in POINTS}
        assert not {*checkpoints} & {entry.id for entry in registry.entries()}

    @pytest.mark.parametrize(("G", "step"), POINTS)
    def test_last_checkpoint_equals_twin(self, G, step):
        """Loss and accuracy were recorded when the twin was trained. 16 bits, and another machine, are 1e-4 apart."""
        loss, accuracy = twins.measure(load(twins.point_id(G, step)).model, twins.Recipe(), seed=10_000)
        at = recorded_run(G).steps.index(step)
        assert loss == pytest.approx(recorded_run(G).loss[at], abs=5e-4)
        assert accuracy == pytest.approx(recorded_run(G).accuracy[at], abs=1e-3)


def test_runs_are_added_and_replaced(tmp_path, monkeypatch):
    (tmp_path / "words.txt").write_text("a b")
    monkeypatch.setattr(twins, "FOLDER", tmp_path)
    twins.runs.cache_clear()
    run = twins.Run(n_kv_heads=2, seed=3, steps=(1,), loss=(0.5,), accuracy=(0.25,))
    commands.save_runs([run], twins.Recipe())
    other_run = replace(run, n_kv_heads=8)
    commands.save_runs([replace(run, loss=(0.75,)), other_run], twins.Recipe())
    assert twins.runs() == (other_run, replace(run, loss=(0.75,)))
    twins.runs.cache_clear()


def test_command_writes_loadable_folders(tmp_path, monkeypatch, capsys):
    twins.tokenizer(), twins.words()
    shipped = twins.FOLDER
    monkeypatch.setattr(twins, "FOLDER", tmp_path)
    monkeypatch.setattr(twins, "Recipe", partial(twins.Recipe, steps=2, measured_every=1, batch=2, measured_on=2))
    monkeypatch.setattr(twins, "POINTS", {8: (1,)})
    monkeypatch.setattr("sys.argv", ["twins", "--seeds", "0", "1"])
    twins.runs.cache_clear()
    commands.main()
    assert [(run.n_kv_heads, run.seed) for run in twins.runs()] == [(8, 0), (8, 1), (2, 0), (2, 1), (1, 0), (1, 1)]
    twins.runs.cache_clear()
    bars = [bar.rpartition("\r")[2] for bar in capsys.readouterr().err.strip("\n").split("\n")]
    assert len(bars) == 6 and all("2/2" in bar and "loss=" in bar for bar in bars)
    for G in twins.GROUPS:
        again = tmp_path / twins.twin_id(G)
        assert len(capture(open_folder(again), TEXT).calls[0].k) == G
        for new_file in again.glob("*.json"):
            assert read_settings(new_file) == read_settings(shipped / again.name / new_file.name), new_file.name
    point, end = tmp_path / twins.point_id(8, 1), tmp_path / twins.twin_id(8)
    once = (point / "model.safetensors").read_bytes()
    assert len(once) < 0.6 * (end / "model.safetensors").stat().st_size
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*") if file.is_file()}
    monkeypatch.setattr("sys.argv", ["twins", "--points"])
    commands.main()
    assert (point / "model.safetensors").read_bytes() == once
    changed_files = {file for file, when in before.items() if file.stat().st_mtime_ns != when}
    assert {file.parent for file in changed_files} == {point}
