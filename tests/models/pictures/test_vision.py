"""Vision models: our attention against transformers' own on small random checkpoints, and what is refused."""

import json
from pathlib import Path

import pytest
import torch
import transformers
from safetensors.torch import save_file
from torch.testing import assert_close

from tests.checkpoints import save
from tools.families import picture_difference
from viz.core.attention import attend
from viz.errors import ModelError
from viz.models import attention_interface
from viz.models.load import load
from viz.models.pictures import vision as vision_module
from viz.models.pictures.vision import PATCHES, judged, load_vision, look, untrained
from viz.models.registry import PICTURE_FAMILIES, Entry, reads_pictures

SIZES = {
    "hidden_size": 35, "num_hidden_layers": 3, "num_attention_heads": 5, "intermediate_size": 53,
    "image_size": [14, 22], "patch_size": 2, "num_channels": 3, "num_labels": 13,
}  # fmt: skip
ARCHITECTURES = {
    "vit": ("ViTConfig", "ViTForImageClassification", 1),
    "deit": ("DeiTConfig", "DeiTForImageClassification", 2),
    "deit_teacher": ("DeiTConfig", "DeiTForImageClassificationWithTeacher", 2),
    "vit_bare": ("ViTConfig", "ViTModel", 1),
}


def save_vision(kind: str, folder: Path, **changes: object) -> Path:
    """Write a small random checkpoint; every parameter is drawn wide, so that attention is far from uniform."""
    config, model, _ = ARCHITECTURES[kind]
    random_model = getattr(transformers, model)(getattr(transformers, config)(**SIZES | changes))
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in random_model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.25)
    random_model.save_pretrained(folder)
    reads = {"image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.25, 0.3]}
    (folder / "preprocessor_config.json").write_text(json.dumps(reads))
    return folder


@pytest.fixture(scope="module", params=ARCHITECTURES)
def checkpoint(request, tmp_path_factory):
    return request.param, save_vision(request.param, tmp_path_factory.mktemp("vision") / request.param)


def open_vision(folder: Path):
    return load_vision(Entry(id=folder.name, path=folder))


PICTURE = torch.rand(3, 31, 17, generator=torch.Generator().manual_seed(5))


class TestAgainstTransformers:
    def test_weights_and_answer(self, checkpoint):
        """A fresh eager model, read from the files, on pixels scaled by hand: nothing of ours has a part in it."""
        kind, folder = checkpoint
        vision = open_vision(folder)
        picture_capture = look(vision, PICTURE)
        eager = getattr(transformers, ARCHITECTURES[kind][1]).from_pretrained(folder, attn_implementation="eager")
        scaled = torch.nn.functional.interpolate(PICTURE[None], (14, 22), mode="bilinear", antialias=True).clamp(0, 1)
        mean, std = torch.tensor([0.4, 0.5, 0.6]), torch.tensor([0.2, 0.25, 0.3])
        pixels = (scaled - mean[:, None, None]) / std[:, None, None]
        with torch.inference_mode():
            result = eager.eval()(pixel_values=pixels, output_attentions=True)
        assert (vision.grid, picture_capture.n_other, len(picture_capture.calls)) == (
            (7, 11),
            ARCHITECTURES[kind][2],
            3,
        )
        for i, weights in enumerate(result.attentions):
            assert float(weights.amax(-1).mean()) > 0.05, "far from even"
            assert_close(picture_capture.layer(i).weights, weights[0], atol=1e-5, rtol=0)
            n = picture_capture.n_other
            among = weights[0, :, n:, n:]
            expected = among / among.sum(-1, keepdim=True)
            assert_close(picture_capture.among_patches(i).weights, expected, atol=1e-5, rtol=0)
        if kind == "vit_bare":
            assert picture_capture.logits is None and vision.names == ()
        else:
            assert_close(picture_capture.logits, result.logits[0], atol=1e-5, rtol=1e-5)
            assert len(vision.names) == 13

    def test_reference_shares_tensors_and_agrees(self, checkpoint):
        _, folder = checkpoint
        vision = open_vision(folder)
        parts = zip(vision.model.parameters(), vision.judge.parameters(), strict=True)
        assert all(ours.data_ptr() == theirs.data_ptr() for ours, theirs in parts)
        weights, logits = judged(vision, PICTURE)
        picture_capture = look(vision, PICTURE)
        for i, judged_weights in enumerate(weights):
            assert_close(picture_capture.layer(i).weights, judged_weights, atol=1e-5, rtol=0)
        if logits is not None:
            assert_close(picture_capture.logits, logits, atol=1e-5, rtol=1e-5)


def test_grey_equals_three_equal_channels(tmp_path):
    vision = open_vision(save_vision("vit", tmp_path / "vit"))
    grey = PICTURE[:1]
    assert_close(vision.pixels(grey), vision.pixels(grey.expand(3, -1, -1)))
    assert vision.pixels(grey).shape == (3, 14, 22)


@pytest.mark.parametrize(("family", "n_other"), [("Dinov2", 1), ("Dinov2WithRegisters", 3)])
def test_dinov2_reads_size_of_folder(tmp_path, family, n_other):
    """Its positions are fitted to the size that its folder cuts pictures to: fewer patches than it was trained on."""
    sizes = SIZES | {"image_size": 28, "num_register_tokens": 2}
    saved_model = getattr(transformers, f"{family}ForImageClassification")(
        getattr(transformers, f"{family}Config")(**sizes)
    )
    generator = torch.Generator().manual_seed(3)
    with torch.no_grad():
        for parameter in saved_model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.25)
    saved_model.save_pretrained(tmp_path)
    reads = {"crop_size": {"height": 20, "width": 20}, "image_mean": [0.4, 0.5, 0.6], "image_std": [0.2, 0.25, 0.3]}
    (tmp_path / "preprocessor_config.json").write_text(json.dumps(reads))
    vision = open_vision(tmp_path)
    picture_capture = look(vision, PICTURE)
    assert (vision.grid, picture_capture.n_other, len(vision.names)) == ((10, 10), n_other, 13)
    eager = type(saved_model).from_pretrained(tmp_path, attn_implementation="eager").eval()
    with torch.inference_mode():
        result = eager(pixel_values=vision.pixels(PICTURE)[None], output_attentions=True)
    for i, weights in enumerate(result.attentions):
        assert float(weights.amax(-1).mean()) > 2 / weights.shape[-1], "far from even"
        assert_close(picture_capture.layer(i).weights, weights[0], atol=1e-5, rtol=0)
    assert_close(picture_capture.logits, result.logits[0], atol=1e-5, rtol=1e-5)
    assert look(untrained(vision), PICTURE).grid == (10, 10)
    (tmp_path / "preprocessor_config.json").write_text(json.dumps({"crop_size": {"height": "20"}}))
    with pytest.raises(ModelError, match=r"preprocessor_config\.json: size"):
        open_vision(tmp_path)


@pytest.mark.parametrize("family", PICTURE_FAMILIES)
def test_table_command_measures_picture_families(tmp_path, monkeypatch, family):
    """The table of families has a difference for each, and a wrong attention makes a large one."""
    assert picture_difference(family, tmp_path / "right") < 1e-5
    monkeypatch.setattr(attention_interface, "attend", lambda q, k, v, **options: attend(q, k, v, scale=1.0))
    monkeypatch.setattr(vision_module, "attend", lambda q, k, v, **options: attend(q, k, v, scale=1.0))
    assert picture_difference(family, tmp_path / "wrong") > 1e-3


def test_untrained_weights_depend_on_seed(tmp_path):
    vision = open_vision(save_vision("vit", tmp_path / "vit"))
    model_a, model_b, model_c = untrained(vision), untrained(vision), untrained(vision, seed=1)
    first, second, third = (look(model, PICTURE).layer(0).weights for model in (model_a, model_b, model_c))
    assert_close(first, second)
    assert not torch.allclose(first, third)
    assert not torch.allclose(first, look(vision, PICTURE).layer(0).weights)


class TestRefused:
    @pytest.fixture
    def folder(self, tmp_path):
        return save_vision("vit", tmp_path / "vit")

    def refusal(self, folder):
        with pytest.raises(ModelError) as exc_info:
            open_vision(folder)
        assert str(exc_info.value).startswith(f"{folder.name}") and "\n" not in str(exc_info.value)
        assert str(folder.parent) not in str(exc_info.value)
        return exc_info.value

    def test_text_and_vision_loaders_refuse_other(self, folder, tmp_path):
        assert reads_pictures(folder)
        entry = Entry(id="vit", path=folder)
        with pytest.raises(ModelError) as exc_info:
            load("vit", extra=(entry,))
        assert exc_info.value.code == "pictures"
        text = save("bert", tmp_path / "bert")
        assert not reads_pictures(text) and not reads_pictures(tmp_path / "nowhere")
        assert self.refusal(text).code == "family"

    def test_a_pickle_is_not_read(self, folder):
        (folder / "model.safetensors").unlink()
        torch.save({}, folder / "pytorch_model.bin")
        assert self.refusal(folder).code == "pickle"

    def test_too_many_patches(self, tmp_path):
        error = self.refusal(save_vision("vit", tmp_path / "vit", image_size=34))
        assert (error.code, error.values["n"], error.values["most"]) == ("patches", 289, PATCHES)

    @pytest.mark.parametrize(
        "changes",
        [
            {"image_size": 1_025},
            {"image_size": [14, "x"]},
            {"patch_size": 0},
            {"num_channels": 99},
            {"num_hidden_layers": 513},
            {"hidden_size": 40},
            {"quantization_config": {"load_in_8bit": True}},
        ],
    )
    def test_sizes_unlike_weights_are_refused(self, folder, changes):
        config = json.loads((folder / "config.json").read_text()) | changes
        (folder / "config.json").write_text(json.dumps(config))
        assert self.refusal(folder).code == ("names" if "hidden_size" in changes else "corrupt")

    @pytest.mark.parametrize(
        "reads", [{"image_std": [0, 0, 0]}, {"image_mean": [0.5, 0.5]}, {"image_mean": ["x"]}, {"image_std": [1e999]}]
    )
    def test_invalid_scale_is_refused(self, folder, reads):
        (folder / "preprocessor_config.json").write_text(json.dumps(reads))
        assert self.refusal(folder).code == "corrupt"


def test_adapter_beside_weights_is_ignored(tmp_path):
    """transformers adds it unasked where PEFT is installed."""
    folder = save_vision("vit", tmp_path / "vit")
    before = open_vision(folder).model.state_dict()
    settings = {"peft_type": "LORA", "r": 2, "target_modules": ["q_proj"], "base_model_name_or_path": "vit"}
    (folder / "adapter_config.json").write_text(json.dumps(settings))
    names = [f"base_model.model.vit.layers.0.attention.q_proj.lora_{part}.weight" for part in "AB"]
    save_file({names[0]: torch.ones(2, 35), names[1]: torch.ones(35, 2)}, folder / "adapter_model.safetensors")
    after = open_vision(folder).model.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)


def test_nan_output_raises_model_error(tmp_path):
    from safetensors.torch import load_file, save_file

    folder = save_vision("vit", tmp_path / "vit")
    tensors = {name: tensor * 1e30 for name, tensor in load_file(folder / "model.safetensors").items()}
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    vision = open_vision(folder)
    with pytest.raises(ModelError) as exc_info:
        look(vision, PICTURE)
    assert exc_info.value.code == "infinite"


def test_class_names_are_shown_and_cut(tmp_path):
    names = {i: "<b>" + "x" * 90 if i == 2 else "a\u202eb" for i in range(13)}
    vision = open_vision(save_vision("vit", tmp_path / "vit", id2label=names, label2id={}))
    assert len(vision.names[2]) == 40 and vision.names[0] == "a⟨202E⟩b"
