"""One layer used twice: one set of tensors, two passes without a shared cache, and recorded trainings."""

from dataclasses import replace

import pytest
import torch
from torch.testing import assert_close

from tools.train import layer_sharing as commands
from viz.core.analysis.map_statistics import weight_at_offset
from viz.core.variants.kv_sharing import induction
from viz.models import capture
from viz.models.load import load
from viz.models.trained import layer_sharing, twins

SMALL = replace(twins.Recipe(), steps=2, measured_every=1, batch=2, measured_on=2)


@pytest.fixture
def temporary_results(tmp_path, monkeypatch):
    twins.words()
    monkeypatch.setattr(twins, "FOLDER", tmp_path)
    layer_sharing.trainings.cache_clear()
    yield tmp_path
    layer_sharing.trainings.cache_clear()


class TestModels:
    def test_a_tied_layer_counts_once(self):
        sizes = {code: commands.count(make(8, twins.Recipe(), seed=0)) for code, make in commands.MAKE.items()}
        assert sizes["independent"] == 394_112
        assert sizes["tied"] == sizes["single"] < 0.6 * sizes["independent"]
        assert {training.variant: training.parameters for training in layer_sharing.trainings()} == sizes

    def test_shared_model_is_stack_of_equals(self):
        """Also without saying ``use_cache=False``, as training calls it: a cache would mix the two passes."""
        model = layer_sharing.tied(8, SMALL, seed=3)
        copy = twins.build(8, SMALL, seed=3)
        copy.model.layers[1].load_state_dict(copy.model.layers[0].state_dict())
        ids = torch.arange(2 * 7).view(2, 7)
        with torch.inference_mode():
            assert_close(model(input_ids=ids).logits, copy(input_ids=ids, use_cache=False).logits)
            once = commands.single(8, SMALL, seed=3)
            assert not torch.allclose(model(input_ids=ids).logits, once(input_ids=ids).logits)


def test_look_equals_captured_heads():
    """twin-g8 is one of the variants: its heads measured here, and by the capture, row by row."""
    recipe, model = twins.Recipe(), load("twin-g8")
    actual = commands.look(model.model, recipe, seed=5)
    rows, _ = twins.repeated(8, recipe, torch.Generator().manual_seed(5))
    captures = [capture(model, " ".join(("unknown", *twins.words())[i] for i in row)) for row in rows.tolist()]
    for layer in range(2):
        maps = [text_capture.layer(layer).weights for text_capture in captures]
        previous = torch.stack([weight_at_offset(weights, -1).mean(-1) for weights in maps]).mean(0)
        following = torch.stack([induction(weights, row) for weights, row in zip(maps, rows, strict=True)]).mean(0)
        assert_close(torch.tensor(actual["previous"][layer]), previous, atol=1e-5, rtol=0)
        assert_close(torch.tensor(actual["next"][layer]), following, atol=1e-5, rtol=0)
    assert model.model.config._attn_implementation != "eager", "the shared model is as it was"


class TestRecord:
    def test_every_variant_has_seeds_and_steps(self):
        by_variant = {
            code: [training for training in layer_sharing.trainings() if training.variant == code]
            for code in layer_sharing.VARIANTS
        }
        assert all([training.run.seed for training in trainings] == [0, 1, 2] for trainings in by_variant.values())
        assert {training.run.steps[-1] for training in layer_sharing.trainings()} == {layer_sharing.STEPS}

    def test_card_equals_record(self):
        card = (twins.FOLDER / "README.md").read_text("utf8")
        for step in (800, layer_sharing.STEPS):
            spans = []
            for variant in layer_sharing.VARIANTS:
                runs = [training.run for training in layer_sharing.trainings() if training.variant == variant]
                at = [run.accuracy[run.steps.index(step)] for run in runs]
                spans.append(f"{min(at):.3f}, {max(at):.3f}")
            assert f"| accuracy after {step} steps, lowest and highest | {' | '.join(spans)} |" in card

    def test_runs_are_added_and_replaced(self, temporary_results):
        run = twins.Run(n_kv_heads=8, seed=3, steps=(1,), loss=(0.5,), accuracy=(0.25,))
        look = {"previous": [[0.5, 0.25]], "next": [[0.0, 1.0]]}
        training = layer_sharing.Trained(variant="single", parameters=7, run=run, look=look)
        tied_training = replace(training, variant="tied")
        commands.save([replace(training, parameters=6)], SMALL)
        commands.save([tied_training, training], SMALL)
        assert layer_sharing.trainings() == (tied_training, training)
