"""An atlas as its file in ``assets/atlas`` has it."""

import json
import math
from typing import Any

from viz.core.analysis.atlas.summary import Score
from viz.models.atlas.corpus import digest
from viz.models.atlas.file import COUNTS, SCALE, TENSORS
from viz.models.atlas.make import Atlas


def encode_atlas(atlas: Atlas) -> str:
    """An atlas as its file says it: one line for each list."""
    scores = {name: _encode_score(score) for name, score in atlas.scores.items()}
    header = {
        "model": atlas.model,
        "sha256": atlas.sha256,
        "packaged": atlas.packaged,
        "corpus": atlas.corpus,
        "lines": len(atlas.lines),
        "digest": digest(atlas.lines),
        "seeds": list(atlas.seeds),
        "made": atlas.made,
        "size": list(atlas.size),
    }
    head = json.dumps(header)[:-1]
    blocks = [f'"{name}": {{\n' + ",\n".join(_lines(parts)) + "}" for name, parts in scores.items()]
    return head + ',\n"scores": {\n' + ",\n".join(blocks) + "}}\n"


def _lines(parts: dict[str, Any]) -> list[str]:
    return [f'"{key}": {json.dumps(value, separators=(",", ":"))}' for key, value in parts.items()]


def _encode_score(score: Score) -> dict[str, Any]:
    return {
        "n": score.n,
        "even": _quantise(score.even),
        "hurdle": _quantise(score.hurdle),
        "chance": [_quantise(value) for value in score.chance.tolist()],
        **{name: [_quantise(value) for value in getattr(score, name).flatten().tolist()] for name in TENSORS},
        **{name: getattr(score, name).flatten().tolist() for name in COUNTS},
    }


def _quantise(value: float) -> int | None:
    return round(value * SCALE) if math.isfinite(value) else None
