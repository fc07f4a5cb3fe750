"""Models that read pictures: a folder of ViT, DeiT or DINOv2, what its heads see of a picture, and what it says.

A picture is cut into patches, which stand where the tokens of a text stand; before them come tokens that are no
patch (the class token, registers). Attention is ours, as for text: :mod:`viz.models.attention_interface`.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from viz.core.attention import AttentionTrace, attend
from viz.errors import ModelError
from viz.models.attention_interface import INTERFACE, install, recording, watch
from viz.models.capture import Call, calls_of
from viz.models.checks import refusal_reason
from viz.models.folders.files import ADAPTER, corrupt, family_of, read_json, readable
from viz.models.folders.weights import read_tensors
from viz.models.layers.find import find_layers
from viz.models.layout import Layer
from viz.models.load import check_weights, read_checkpoint
from viz.models.registry import PICTURE_FAMILIES, Entry
from viz.models.spelling.visible import visible

RESIZED, RESIZED_TO = ("dinov2", "dinov2_with_registers"), 224
"""Families that fit their table of positions to a picture's size, and the size where a folder does not say."""

PATCHES = 256
"""Of a picture, at most: 16 x 16, of which a head has a map of 256 x 256."""

SIZES = {"image_size": 1024, "patch_size": 1024, "num_channels": 4}
"""The most of each that a configuration may ask for."""

NAME_CHARACTERS = 40
"""Of what a model calls a class; a folder may call it anything."""

CLASSIFIERS = (
    "ViTForImageClassification",
    "DeiTForImageClassification",
    "DeiTForImageClassificationWithTeacher",
    "Dinov2ForImageClassification",
    "Dinov2WithRegistersForImageClassification",
)
"""Architectures that say what a picture shows; of any other, only the layers are read."""


@dataclass(frozen=True, kw_only=True)
class VisionModel:
    """A model that reads pictures of ``size`` (rows, columns) pixels, cut into a ``grid`` of patches.

    ``judge`` is the same model on the same tensors, with transformers' own attention: what ours is held to.
    """

    entry: Entry
    model: Any
    judge: Any
    layers: tuple[Layer, ...]
    size: tuple[int, int]
    grid: tuple[int, int]
    channels: int
    mean: tuple[float, ...]
    std: tuple[float, ...]
    names: tuple[str, ...]

    @property
    def n_heads(self) -> int:
        """Heads of a layer."""
        return int(self.model.config.num_attention_heads)

    @property
    def n_patches(self) -> int:
        """Cells of the grid."""
        return math.prod(self.grid)

    def pixels(self, picture: Tensor) -> Tensor:
        """A picture (channels, rows, columns), 0 to 1, as the model reads it: its own size, channels and scale."""
        values = picture.float()
        if len(values) != self.channels:
            values = values.mean(0, keepdim=True).expand(self.channels, -1, -1)
        if values.shape[1:] != self.size:
            values = interpolate(values[None], self.size, mode="bilinear", antialias=True)[0].clamp(0, 1)
        mean, std = (torch.tensor(value).reshape(-1, 1, 1) for value in (self.mean, self.std))
        return (values - mean) / std


@dataclass(frozen=True, kw_only=True)
class VisionCapture:
    """A picture as a model's layers saw it: ``calls`` for each layer, and the class scores, if the model gives any."""

    calls: tuple[Call, ...]
    grid: tuple[int, int]
    logits: Tensor | None

    @property
    def n_other(self) -> int:
        """Tokens before the patches."""
        return self.calls[0].q.shape[1] - math.prod(self.grid)

    def layer(self, i: int) -> AttentionTrace:
        """Every step of attention in layer i, all tokens."""
        call = self.calls[i]
        return attend(call.q, call.k, call.v, **call.options)

    def among_patches(self, i: int) -> AttentionTrace:
        """The same for patches alone, (H, P, P): the keys before them are masked, so that a row is shared out anew."""
        call, n = self.calls[i], self.n_other
        return attend(call.q[:, n:], call.k[:, n:], call.v[:, n:], scale=call.options["scale"])


def load_vision(entry: Entry) -> VisionModel:
    """Load a folder of a vision model, as strictly as :func:`viz.models.load.load` does one of text.

    Raises:
        ModelError: a sentence on what is wrong: "missing", "pickle", "sha", "family", "patches" or "corrupt".
    """
    install()
    from transformers.utils.logging import disable_progress_bar

    disable_progress_bar()
    assert entry.path is not None
    with readable(entry.path) as folder:
        return _load_from(entry, folder)


def _load_from(entry: Entry, folder: Path) -> VisionModel:
    config = read_json(entry, folder / "config.json")
    if (family := family_of(config)) not in (names := PICTURE_FAMILIES):
        raise ModelError("family", model=entry.id, family=family, n=len(names), known=", ".join(names))
    files = check_weights(entry, folder)
    if reason := refusal_reason(config) or _sizes_refused(config):
        raise corrupt(entry, reason)
    reads = read_json(entry, file) if (file := folder / "preprocessor_config.json").is_file() else {}
    _check_grid(
        entry, _grid(_size_read(entry, family, config.get("image_size", 224), reads), config.get("patch_size", 16))
    )
    # transformers would add an adapter that lies beside the weights, where PEFT is installed.
    weights = read_tensors(entry, files) if (folder / ADAPTER).is_file() else None
    return share_model(entry, read_checkpoint(entry, folder, _class_of(config), weights), reads)


def _size_read(entry: Entry, family: str, size: Any, reads: Mapping[str, Any]) -> tuple[int, int]:
    """The size of the pictures that a model is given: its own, or what its folder cuts them to where it fits itself.

    Raises:
        ModelError: "corrupt", if that is no size.
    """
    if family not in RESIZED:
        return _pair(size)
    crop_size = reads.get("crop_size") or reads.get("size") or RESIZED_TO
    if isinstance(crop_size, dict):
        crop_size = [crop_size.get(name, crop_size.get("shortest_edge")) for name in ("height", "width")]
    if reason := _sizes_refused({"image_size": crop_size}):
        raise corrupt(entry, reason.replace("config.json: image_size", "preprocessor_config.json: size"))
    return _pair(crop_size)


def _class_of(config: Mapping[str, Any]) -> Any:
    import transformers

    architecture = next(iter(config.get("architectures") or []), "")
    if architecture in CLASSIFIERS:
        return getattr(transformers, architecture)
    return transformers.AutoModel


def share_model(entry: Entry, model: Any, reads: Mapping[str, Any]) -> VisionModel:
    """A model in memory as users share it: never changed, and watched; ``reads`` is its preprocessor_config.json.

    Raises:
        ModelError: "patches" or "corrupt".
    """
    config = model.config
    size = _size_read(entry, config.model_type, config.image_size, reads)
    grid = _grid(size, config.patch_size)
    _check_grid(entry, grid)
    try:
        mean, std = _scale(reads, config.num_channels)
    except (TypeError, ValueError) as error:
        raise corrupt(entry, error) from error
    model.eval().requires_grad_(False)
    layers = tuple(find_layers(model))
    watch(layers)
    is_classifier = type(model).__name__ in CLASSIFIERS
    return VisionModel(
        entry=entry,
        model=model,
        judge=_judge(model),
        layers=layers,
        size=size,
        grid=grid,
        channels=int(config.num_channels),
        mean=mean,
        std=std,
        names=_names(config) if is_classifier else (),
    )


def untrained(vision: VisionModel, initial_model: Any = None, *, seed: int = 0) -> VisionModel:
    """Return the architecture before training: the model it was trained from, or transformers' own random start."""
    if initial_model is None:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            initial_model = type(vision.model)(vision.model.config)
    initial_model.set_attn_implementation(INTERFACE)
    return share_model(
        vision.entry, initial_model, {"image_mean": vision.mean, "image_std": vision.std, "size": [*vision.size]}
    )


def _sizes_refused(config: Mapping[str, Any]) -> str | None:
    """Return the reason why the sizes of a configuration cannot be used, before anything of that size is allocated."""
    for name, most in SIZES.items():
        value = config.get(name)
        for number in value if isinstance(value, list) and len(value) == 2 else (value,):
            if value is not None and not (type(number) is int and 1 <= number <= most):
                return f"config.json: {name} is not a whole number from 1 to {most}"
    return None


def _grid(image: Any, patch: Any) -> tuple[int, int]:
    """Return the number of patches, down and across."""
    (rows, columns), (high, wide) = _pair(image), _pair(patch)
    return rows // high, columns // wide


def _check_grid(entry: Entry, grid: tuple[int, int]) -> None:
    if not 1 < math.prod(grid) <= PATCHES:
        raise ModelError("patches", model=entry.id, n=math.prod(grid), most=PATCHES)


def _pair(size: Any) -> tuple[int, int]:
    rows, columns = size if isinstance(size, list | tuple) else (size, size)
    return int(rows), int(columns)


def _scale(reads: Mapping[str, Any], channels: int) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the mean and standard deviation of each channel; 0.5 each where a folder has none."""
    if reads.get("do_normalize") is False:
        return (0.0,) * channels, (1.0,) * channels
    mean_and_std = []
    for name in ("image_mean", "image_std"):
        numbers: Sequence[Any] = reads.get(name) or (0.5,)
        numbers = tuple(map(float, numbers))
        if len(numbers) not in (1, channels) or not all(map(math.isfinite, numbers)):
            raise ValueError(f"preprocessor_config.json: {name} does not fit {channels} channels")
        mean_and_std.append(numbers)
    mean, std = mean_and_std
    if min(std) <= 0:
        raise ValueError("preprocessor_config.json: image_std is not above 0")
    return mean, std


def _judge(model: Any) -> Any:
    """The same tensors under transformers' own attention; nothing is copied."""
    config = type(model.config).from_dict(model.config.to_dict())
    with torch.device("meta"):
        judge = type(model)(config)
    judge.set_attn_implementation("eager")
    judge.load_state_dict(model.state_dict(), assign=True)
    return judge.eval().requires_grad_(False)


def _names(config: Any) -> tuple[str, ...]:
    labels = config.id2label or {}
    return tuple(visible(str(labels.get(i, i)))[:NAME_CHARACTERS] for i in range(config.num_labels))


def look(vision: VisionModel, picture: Tensor) -> VisionCapture:
    """Run a model on a picture (channels, rows, columns), 0 to 1, and keep what every layer saw.

    Raises:
        ModelError: "infinite", if what it makes of the picture is no number.
    """
    with torch.inference_mode(), recording({}) as recorder:
        result = vision.model(pixel_values=vision.pixels(picture)[None])
        (calls,) = calls_of(vision.layers, recorder).values()
    if not all(bool(call.x.isfinite().all()) for call in calls) or not bool(result[0].isfinite().all()):
        raise ModelError("infinite", model=vision.entry.id)
    logits = getattr(result, "logits", None)
    return VisionCapture(calls=calls, grid=vision.grid, logits=None if logits is None else logits[0])


def judged(vision: VisionModel, picture: Tensor) -> tuple[tuple[Tensor, ...], Tensor | None]:
    """The weights of every layer, (H, T, T), and the class scores, by transformers' own attention."""
    with torch.inference_mode():
        result = vision.judge(pixel_values=vision.pixels(picture)[None], output_attentions=True)
    logits = getattr(result, "logits", None)
    return tuple(weights[0] for weights in result.attentions), None if logits is None else logits[0]
