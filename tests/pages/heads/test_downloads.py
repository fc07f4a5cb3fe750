"""Downloads: the files hold the trace, and the code computes the same weights."""

import io
from typing import Any

import numpy as np
import pytest
import torch

from pages.heads.downloads import to_code, to_npz
from viz.core import masks
from viz.frame import compute, mask_code, specs
from viz.models import registry

TEXT = "The animal didn't cross the “street”\nbecause \\ it's {0} $x 猫 too tired."
MODEL = registry.entries()[0]
MASK = {"width": 3, "gap": 2, "pad": 5, "painted": mask_code.to_code(torch.arange(49).view(7, 7) % 3 == 0)}
MORE = [
    {"kind": "both", "pad": 5, "pad_left": True},
    {"kind": "painted", "painted": mask_code.to_code(masks.causal(32, 32))},  # more than there are tokens
    {"kind": "painted"},
]


def source(kind):
    model = MODEL.id if kind != "words" else ""
    sizes = {} if kind == "model" else {"n_heads": 6, "n_kv_heads": 2, "seed": 5}
    return specs.Source(kind=kind, text=TEXT, model=model, **sizes, d_model=18 if kind == "words" else 0)


@pytest.mark.parametrize("kind", ["model", "embeddings", "words"])
@pytest.mark.parametrize("mask", [MASK | {"kind": kind} for kind in specs.MASKS] + MORE, ids=lambda mask: mask["kind"])
def test_the_code_computes_the_same_weights(kind, mask, capsys):
    layer, head, mask = (3 if kind == "model" else 0), 4, specs.Mask(**mask)
    capture = compute.read(source(kind))
    code = to_code(source(kind), layer, head, mask, capture.tokens)
    local_value = code.replace(repr(MODEL.hub), repr(str(MODEL.local_folder())))
    assert (local_value == code) == (kind == "words")
    result: dict[str, Any] = {}
    exec(local_value, result)
    capsys.readouterr()
    expected = compute.trace(source(kind), layer, mask).weights[head]
    torch.testing.assert_close(result["weights"], expected, atol=2e-6, rtol=1e-4)
    assert len([line for line in code.splitlines() if line.strip()]) <= 21


@pytest.mark.parametrize("model", ["twin-g8", "twin-g2", "twin-g1", "animals-en-zh"])
@pytest.mark.parametrize("kind", ["model", "embeddings"])
def test_code_loads_project_models(model, kind, monkeypatch, capsys):
    monkeypatch.chdir(registry.ROOT)
    sizes = {} if kind == "model" else {"n_heads": 4, "n_kv_heads": 2}
    of = specs.Source(kind=kind, text="the dog saw a cat .", model=model, **sizes)
    layer, head, mask = (1 if kind == "model" else 0), 3, specs.Mask(kind="window", width=2)
    code, result = to_code(of, layer, head, mask, compute.read(of).tokens), {}
    exec(code, result)
    capsys.readouterr()
    torch.testing.assert_close(result["weights"], compute.trace(of, layer, mask).weights[head], atol=2e-6, rtol=1e-4)


def test_npz_holds_every_intermediate():
    trace = compute.trace(source("words"), 0, specs.Mask(kind="causal"))
    labels = compute.read(source("words")).tokens.labels
    with np.load(io.BytesIO(to_npz(trace, labels))) as saved_values:
        assert tuple(saved_values["tokens"]) == labels
        for name in ("x", "w_q", "w_k", "w_v", "w_o", "q", "k", "v", "scores", "scaled", "masked", "weights",
                     "head_outputs", "concat", "contributions", "output", "allowed"):  # fmt: skip
            assert saved_values[name].size > 0
        again = saved_values["contributions"].sum(0)
    np.testing.assert_allclose(again, trace.output.numpy(), atol=1e-5)
