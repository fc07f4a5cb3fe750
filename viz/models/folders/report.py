"""The report of transformers on a checkpoint that it read: weights that are missing, unread, or of another size."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from viz.errors import ModelError
from viz.models.folders.files import corrupt
from viz.models.folders.unlisted import JOIN
from viz.models.registry import Entry

PUT_TOGETHER = re.compile(r"_orig$|_mask$|\.parametrizations\.|\.weight_[gv]$")
"""Parts of weights that torch puts together while a model runs."""

NUMBERED = re.compile(r"(.*?\.)(\d+)\.")
"""The name of a weight up to the number of its layer."""


def check_report(entry: Entry, report: Mapping[str, Any]) -> None:
    """Refuse a model with a gap, which transformers fills with random numbers; no page shows the pooler.

    Raises:
        ModelError: "parametrised", "untied", "names" or "corrupt", for a gap; "attention", for weights that
            transformers leaves out; "names", for those of another size.
    """
    unexpected = sorted(report["unexpected_keys"])
    if gaps := sorted(key for key in report["missing_keys"] if "pooler" not in key):
        if part := next((name for name in unexpected if PUT_TOGETHER.search(name)), None):
            raise ModelError("parametrised", model=entry.id, name=part)
        if unexpected:
            raise ModelError(
                "names",
                model=entry.id,
                reason=f"no weights for {gaps[0]}; the file has {unexpected[0]} and {len(unexpected) - 1} others that "
                "it does not have",
            )
        if len(gaps) == 1 and gaps[0].endswith("lm_head.weight"):
            raise ModelError("untied", model=entry.id, name=gaps[0])
        raise corrupt(entry, f"no weights for {gaps[0]}")
    if relative := [key for key in unexpected if key.endswith("distance_embedding.weight")]:
        # transformers 5 leaves these weights out.
        raise ModelError("attention", model=entry.id, option=relative[0])
    for name, shape, expected_shape in sorted(report["mismatched_keys"]):
        # ZeRO-3 keeps the numbers in files of its own.
        if 0 in shape:
            raise ModelError("format", model=entry.id, file=f"{name} (ZeRO-3)", line=JOIN)
        reason = f"{name} is {_size(shape)}, config.json asks for {_size(expected_shape)}"
        raise ModelError("names", model=entry.id, reason=reason)


def count_unread_layers(report: Mapping[str, Any], own_names: Iterable[str]) -> int:
    """Return how many layers stand in the files behind the last that the configuration asks for."""
    prefixes = {match[1] for name in own_names if (match := NUMBERED.match(name))}
    layers = {
        match[0] for name in report["unexpected_keys"] if (match := NUMBERED.match(name)) and match[1] in prefixes
    }
    return len(layers)


def _size(shape: Iterable[int]) -> str:
    return " × ".join(map(str, shape))
