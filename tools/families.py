"""Write the table of families: ``python -m tools.families > viz/models/FAMILIES.md``.

Each family that is shown is made small and at random, opened, and held to transformers' own eager attention. Run it
with the newest transformers that requirements.txt allows: an older one has not all of them.
"""

import json
import tempfile
from pathlib import Path
from typing import Any

import torch
import transformers

from tests.checkpoints import FAMILIES, MORE, TEXT, comparable_maps, eager, open_folder, save
from viz.errors import ModelError
from viz.models import capture
from viz.models.layout import different_families, families
from viz.models.pictures.vision import load_vision, look
from viz.models.registry import PICTURE_FAMILIES, Entry
from viz.text import translator

HEAD = """# Families of models

Each family below was made small and at random (two to four layers), opened as a folder, and held to transformers
{version}: the largest difference of any weight to its eager attention on the same text, or the same picture, over all
layers and stacks.
Of those with "maps" the maps alone are shown, on Heads, A long text and in the atlas: their own code hands out no
queries and keys.
Families that are refused are refused by name, with the sentence that is shown. A model of OLMo that clips its queries,
keys and values, and one of Laguna or Step 3.5 with more heads in some layers than in others, are refused too.
Written by `python -m tools.families`.

| family | shown | largest difference |
|---|---|---|"""


def difference(name: str, folder: Path) -> float:
    """Return the largest difference between our weights and transformers' own, for a family's small checkpoint."""
    save(name, folder)
    ours, theirs = open_folder(folder), eager(name, folder)
    ids = ours.tokenizer(TEXT, return_tensors="pt").input_ids
    options: dict[str, Any] = {"input_ids": ids, "output_attentions": True}
    our_capture = capture(ours, TEXT)
    if pair := theirs.config.is_encoder_decoder:
        assert our_capture.target is not None
        options["decoder_input_ids"] = torch.tensor([our_capture.target.ids])
    with torch.inference_mode():
        result = theirs(**options)
    names = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
    errors = [
        float((ours_of_layer - weights).abs().max())
        for stack in our_capture.stacks
        for ours_of_layer, weights in comparable_maps(
            name, our_capture, result[names[stack] if pair else "attentions"], stack
        )
    ]
    return max(errors)


def picture_difference(name: str, folder: Path) -> float:
    """Return the same of a family that reads pictures, on one random picture."""
    kind = transformers.CONFIG_MAPPING[name]
    sizes = {"hidden_size": 35, "num_hidden_layers": 3, "num_attention_heads": 5, "intermediate_size": 53}
    model = transformers.AutoModel.from_config(kind(image_size=14, patch_size=2, num_channels=3, **sizes))
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator), alpha=0.25)
    model.save_pretrained(folder)
    reads = {"image_mean": [0.5] * 3, "image_std": [0.25] * 3, "size": {"height": 14, "width": 14}}
    (folder / "preprocessor_config.json").write_text(json.dumps(reads), "utf8")
    vision, picture = load_vision(Entry(id=name, path=folder)), torch.rand(3, 14, 14, generator=generator)
    theirs = type(model).from_pretrained(folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        maps = theirs(pixel_values=vision.pixels(picture)[None], output_attentions=True).attentions
    ours = look(vision, picture)
    return max(float((ours.layer(i).weights - weights[0]).abs().max()) for i, weights in enumerate(maps))


def main() -> None:
    """Print the table, in the order of the alphabet."""
    transformers.logging.set_verbosity_error()
    rows = {}
    with tempfile.TemporaryDirectory() as place:
        for name in (FAMILIES | MORE).keys() & set(families()):
            rows[name] = f"| {name} | yes | {difference(name, Path(place) / name):.0e} |"
        for name in PICTURE_FAMILIES:
            rows[name] = f"| {name} | yes, of pictures | {picture_difference(name, Path(place) / name):.0e} |"
        for name in families(maps_only=True):
            rows[name] = f"| {name} | maps | {difference(name, Path(place) / name):.0e} |"
    say = translator("en")
    for kind, names in different_families().items():
        for name in names:
            error = ModelError(f"family_{kind}", model="it", family=name)
            reason = say(f"error.{error.code}", **error.values).removeprefix("it: ")
            rows[name] = f"| {name} | no: {reason} | |"
    head = HEAD.format(version=transformers.__version__)
    print(head, *(rows[name] for name in sorted(rows)), sep="\n")  # noqa: T201


if __name__ == "__main__":
    main()
