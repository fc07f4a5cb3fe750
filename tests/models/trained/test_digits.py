"""The small vision model: its training data, its accuracy, and a reproducible training."""

import json
from dataclasses import replace
from functools import partial

import pytest
import torch
from sklearn.datasets import load_digits
from torch.testing import assert_close

from tools.train import digits as commands
from viz.models import registry
from viz.models.pictures.vision import load_vision
from viz.models.trained import digits

SMALL = digits.Recipe(d_model=8, n_heads=2, n_layers=1, d_ff=11, batch=100, epochs=2)


def packaged_vision():
    return load_vision(registry.picture_entries()[0])


class TestTheDigits:
    def test_held_out_digits_are_never_trained(self):
        training, held_out = commands.split(0)
        saved_digits = digits.held_out()
        pictures = {levels.tobytes(): name for levels, name in zip(*load_digits(return_X_y=True), strict=True)}
        for levels, name in zip(saved_digits.levels, saved_digits.names.tolist(), strict=True):
            assert pictures[levels.double().flatten().numpy().tobytes()] == name
        assert_close(saved_digits.levels, held_out.levels)
        assert_close(saved_digits.names, held_out.names)
        assert (len(training.names), len(held_out.names)) == (1797 - digits.HELD_OUT, digits.HELD_OUT)
        trained_on = {levels.numpy().tobytes() for levels in training.levels}
        assert not trained_on & {levels.numpy().tobytes() for levels in held_out.levels}
        assert set(held_out.names.tolist()) == set(range(10)) and int(held_out.levels.max()) == digits.LEVELS

    def test_pixels_by_hand(self):
        levels = torch.zeros(1, 8, 8, dtype=torch.uint8)
        levels[0, 0, :3] = torch.tensor([16, 8, 4])
        assert digits.pixels(levels).shape == (1, 1, 8, 8)
        assert digits.pixels(levels)[0, 0, 0, :4].tolist() == [1, 0, -0.5, -1]

    def test_shift_moves_picture_fills_blank(self):
        levels = torch.zeros(200, 8, 8, dtype=torch.uint8)
        levels[:, 3, 5] = 7
        shifted = digits.shifted(levels, 1, torch.Generator().manual_seed(0))
        places = {tuple(where) for where in (shifted == 7).nonzero()[:, 1:].tolist()}
        assert places == {(row, column) for row in (2, 3, 4) for column in (4, 5, 6)}
        assert int(shifted.sum()) == 200 * 7
        edge = torch.zeros(50, 8, 8, dtype=torch.uint8)
        edge[:, 0, 0] = 3
        remaining_ink = digits.shifted(edge, 1, torch.Generator().manual_seed(1)).flatten(1).sum(1)
        assert set(remaining_ink.tolist()) == {0, 3}, "what goes over the edge does not come in on the other side"


class TestTheModel:
    def test_model_equals_registry_and_card(self):
        entry, run = registry.picture_entries()[0], digits.run()
        size = sum(parameter.numel() for parameter in packaged_vision().model.parameters())
        weights = (digits.FOLDER / "model.safetensors").stat().st_size
        assert size == entry.parameters == run.parameters
        assert weights < 3e6 and round(weights / 1e6, 1) == entry.size_mb
        card = (digits.FOLDER / "README.md").read_text("utf8")
        right = round(run.accuracy[-1] * digits.HELD_OUT)
        for figure in (f"{size:,}", f"{right} of {digits.HELD_OUT}", f"{run.seconds:.0f} seconds", "seed 0"):
            assert figure in card, figure
        recipe = json.loads((digits.FOLDER / "run.json").read_text("utf8"))["recipe"]
        assert digits.Recipe(**recipe) == digits.Recipe() and f"{recipe['epochs']} epochs" in card

    def test_held_out_accuracy_equals_record(self):
        measured_accuracy = digits.accuracy(packaged_vision().model, digits.held_out())
        assert measured_accuracy == pytest.approx(digits.run().accuracy[-1], abs=0.5 / digits.HELD_OUT)
        assert measured_accuracy > 0.95

    def test_picture_is_read_as_in_training(self):
        levels = digits.held_out().levels[:3]
        for level in levels:
            picture = level.float()[None] / digits.LEVELS
            assert_close(packaged_vision().pixels(picture)[None], digits.pixels(level[None]))


class TestTraining:
    def test_first_epoch_equals_record(self):
        """The first epoch's loss: the seed still gives the start and the batches that it gave."""
        recipe, both = digits.Recipe(), commands.split(0)
        _, how = digits.train(recipe, both, epochs=1)
        assert how.loss[0] == pytest.approx(digits.run().loss[0], abs=5e-3)
        assert how.accuracy[0] == pytest.approx(digits.run().accuracy[0], abs=0.03)

    def test_one_seed_is_one_result(self):
        both = commands.split(0)
        run, again, other_run = (
            digits.train(recipe, both, epochs=1)[0] for recipe in (SMALL, SMALL, replace(SMALL, seed=1))
        )
        first, second, third = (model.classifier.weight for model in (run, again, other_run))
        assert_close(first, second, atol=0, rtol=0)
        assert not torch.allclose(first, third)

    def test_the_command_writes_an_ordinary_folder(self, tmp_path, monkeypatch):
        monkeypatch.setattr(digits, "Recipe", partial(replace, SMALL))
        monkeypatch.setattr("sys.argv", ["digits", "--folder", str(tmp_path / "again")])
        commands.main()
        vision = load_vision(registry.Entry(id="again", path=tmp_path / "again"))
        assert vision.grid == (8, 8) and vision.names == tuple("0123456789")
        for name in ("held_out.png", "held_out.txt", "preprocessor_config.json"):
            assert (tmp_path / "again" / name).read_bytes() == (digits.FOLDER / name).read_bytes()


def test_positions_start_as_row_column_waves():
    """Patches of one row share the first half, those of one column the second; every half is equally long."""
    recipe = digits.Recipe()
    initial_positions = digits.build(recipe).vit.embeddings.position_embeddings[0, 1:].unflatten(0, (8, 8))
    down, right = initial_positions.chunk(2, -1)
    assert_close(down, down[:, :1].expand_as(down))
    assert_close(right, right[:1].expand_as(right))
    expected = recipe.waves * (2 * recipe.d_model / 4) ** 0.5
    assert_close(down.norm(dim=-1), torch.full((8, 8), expected))
