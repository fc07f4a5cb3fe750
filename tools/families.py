"""Write the table of families: ``python -m tools.families > viz/models/FAMILIES.md``.

Each family that is shown is made small and at random, opened, and held to transformers' own eager attention.
"""

import tempfile
from pathlib import Path
from typing import Any

import torch
import transformers

from tests.checkpoints import FAMILIES, MORE, TEXT, comparable_maps, eager, open_folder, save
from viz.errors import ModelError
from viz.models import capture
from viz.models.layout import different_families, families
from viz.models.registry import PICTURE_FAMILIES
from viz.text import translator

HEAD = """# Families of models

Each family below was made small and at random (two to four layers), opened as a folder, and held to transformers
{version}: the largest difference of any weight to its eager attention on the same text, over all layers and stacks.
Families that are refused are refused by name, with the sentence that is shown. Written by `python -m tools.families`.

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


def main() -> None:
    """Print the table, in the order of the alphabet."""
    transformers.logging.set_verbosity_error()
    rows = {}
    with tempfile.TemporaryDirectory() as place:
        for name in (FAMILIES | MORE).keys() & set(families()):
            rows[name] = f"| {name} | yes | {difference(name, Path(place) / name):.0e} |"
    rows |= {name: f"| {name} | yes, of pictures | |" for name in PICTURE_FAMILIES}
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
