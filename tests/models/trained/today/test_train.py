"""Twins with current attention variants: trained, measured and recorded; the record is the recipe's."""

import json
from dataclasses import replace

import pytest
import torch

from tools.train import today as commands
from tools.train.layer_sharing import count
from viz.models.trained import twins
from viz.models.trained.today import train as today
from viz.models.trained.today.summary import summarise

SMALL = replace(
    twins.Recipe(), d_model=24, n_heads=4, d_ff=17, steps=2, measured_every=1, batch=2, measured_on=2, longest=61
)


@pytest.fixture
def temporary_results(tmp_path, monkeypatch):
    twins.words()
    monkeypatch.setattr(twins, "FOLDER", tmp_path)
    for read in (today._record, today.trainings):
        read.cache_clear()
    yield tmp_path
    for read in (today._record, today.trainings):
        read.cache_clear()


def test_training_is_recorded_and_read(temporary_results):
    """A training is read back from the file; a second training with the same seed replaces the first."""
    assert today.trainings() == ()
    trained = [commands.train(variant, SMALL, seed=0) for variant in ("sink", "delta_3_1")]
    commands.save(trained[1:], SMALL)
    commands.save(trained[:1], SMALL)
    assert today.trainings() == (trained[0], trained[1]), "in the order of the variants"
    commands.save([replace(trained[0], parameters=7)], SMALL)
    assert [training.parameters for training in today.trainings()] == [7, trained[1].parameters]


def test_heads_are_measured_where_maps_are():
    """Two softmax layers have a row each, three layers with the delta rule an empty one before the full layer's."""
    sink, delta = (commands.train(variant, SMALL, seed=0) for variant in ("sink", "delta_3_1"))
    for heads in (sink.before, sink.after):
        assert [len(row) for row in heads.first_share] == [4, 4]
        assert all(0 < share < 1 for row in heads.first_share for share in row)
    assert [len(row) for row in delta.after.induction] == [0, 0, 0, 4]
    assert sink.before != sink.after


def copying_by_hand(weights, ids):
    """The mean weight of a row on what followed earlier mentions of its word, over rows that have one."""
    followers = [[j + 1 for j in range(i) if ids[j] == word] for i, word in enumerate(ids)]
    rows = [sum(weights[i][j] for j in keys) for i, keys in enumerate(followers) if keys]
    return sum(rows) / len(rows)


def test_heads_equal_row_by_row():
    """Shares and copying of one layer, counted in Python loops over the maps of its last pass."""
    model = today.build("standard", SMALL, seed=2).eval()
    heads = today.measure_heads(model, SMALL, seed=5)
    ids, _ = twins.repeated(today.MEASURED_ON, SMALL, torch.Generator().manual_seed(5))
    maps = model.model.layers[1].self_attn.weights
    for head in range(SMALL.n_heads):
        rows = [float(row[0]) for text in maps for row in text[head][1:]]
        assert heads.first_share[1][head] == pytest.approx(sum(rows) / len(rows), abs=1e-5)
        copies = [copying_by_hand(text[head].tolist(), row) for text, row in zip(maps, ids.tolist(), strict=True)]
        assert heads.induction[1][head] == pytest.approx(sum(copies) / len(copies), abs=1e-5)


def test_seed_decides():
    """The same seed trains the same twin, another seed another."""
    first, again, second = (commands.train("gate", SMALL, seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first.run.loss != second.run.loss


def test_variants_follow_recipe():
    """Two layers, or four; the standard twin is as large as twin-g8, and a sink adds one number a head."""
    recipe = twins.Recipe()
    sizes = {variant: count(today.build(variant, recipe, seed=0)) for variant in today.VARIANTS}
    assert sizes["standard"] == 394_112
    assert sizes["sink"] == 394_112 + 2 * 8
    assert sizes["gate"] == 394_112 + 2 * 128 * 128
    assert len(today.build("delta_3_1", recipe, seed=0).model.layers) == 4
    assert torch.equal(
        today.build("sink", recipe, seed=0).model.embed_tokens.weight,
        twins.build(8, recipe, seed=0).model.embed_tokens.weight,
    )


class TestDigest:
    def test_every_value_changes_digest(self, monkeypatch):
        """Each field of the recipe, and each constant that decides a training, is part of it."""
        recipe, digests = today.RECIPE, [today.digest(today.RECIPE)]
        digests += [today.digest(replace(recipe, **{name: value + 1})) for name, value in vars(recipe).items()]
        for owner, name in (
            (today, "START"),
            (today, "MEASURED_ON"),
            (today, "MEASURED_SEED"),
            (today.LatentAttention, "D_LATENT"),
            (today.LatentAttention, "D_ROPE"),
            (today.DeltaAttention, "KERNEL"),
        ):
            with monkeypatch.context() as patch:
                patch.setattr(owner, name, getattr(owner, name) + 1)
                digests.append(today.digest(recipe))
        with monkeypatch.context() as patch:
            patch.setitem(today.VARIANTS, "gate", today.VARIANTS["standard"])
            digests.append(today.digest(recipe))
        assert len(set(digests)) == len(digests)

    def test_other_recipe_drops_record(self, temporary_results):
        """Trainings by two recipes never stand side by side."""
        first = commands.train("sink", SMALL, seed=0)
        commands.save([first], SMALL)
        other = replace(SMALL, learning_rate=1e-3)
        second = commands.train("sink", other, seed=1)
        commands.save([second], other)
        assert today.trainings() == (second,)
        assert today.recorded_digest() == today.digest(other)


class TestRecord:
    def test_record_follows_present_recipe(self):
        """The digest, and the values that it stands for: a recipe that changes asks for new trainings."""
        record = json.loads((twins.FOLDER / "today.json").read_text("utf8"))
        assert record["digest"] == today.digest(today.RECIPE)
        assert record["recipe"] == vars(today.RECIPE)

    def test_every_variant_has_five_seeds(self):
        runs = [(training.variant, training.run.seed) for training in today.trainings()]
        assert runs == [(variant, seed) for variant in today.VARIANTS for seed in today.SEEDS]
        assert len(today.SEEDS) == 5
        assert {training.run.steps[-1] for training in today.trainings()} == {today.RECIPE.steps}

    @pytest.mark.parametrize("variant", ["sink", pytest.param("delta_3_1", marks=pytest.mark.long)])
    def test_training_starts_as_recorded(self, variant):
        """Seed 0 again, as far as the first measurement."""
        recipe = replace(today.RECIPE, steps=today.RECIPE.measured_every)
        result = commands.train(variant, recipe, seed=0)
        recorded = next(x for x in today.trainings() if (x.variant, x.run.seed) == (variant, 0))
        assert result.parameters == recorded.parameters
        assert result.before == recorded.before or result.before.first_share[-1] == pytest.approx(
            recorded.before.first_share[-1], abs=1e-5
        )
        assert result.run.loss[0] == pytest.approx(recorded.run.loss[0], abs=5e-3)

    def test_card_equals_record(self):
        """The table of the folder's card."""
        card = (twins.FOLDER / "README.md").read_text("utf8")
        for variant in today.VARIANTS:
            summary = summarise([training for training in today.trainings() if training.variant == variant])
            cells = [
                f"{spread.mean:.3f} ({spread.low:.3f}, {spread.high:.3f})"
                for spread in (summary[name] for name in ("first_share", "induction", "loss", "accuracy"))
            ]
            assert f"| {variant} | {' | '.join(cells)} |" in card
