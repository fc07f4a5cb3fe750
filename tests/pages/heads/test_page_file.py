"""The page as a file: the app's own values in every view; offered where every head fits, built on a click."""

import pytest
import torch

from pages.heads import page_file
from tests.components.test_head_grid import unpack
from tests.components.test_take_away import codes, read_file
from viz.components.head_grid import pool_of
from viz.frame import compute, specs
from viz.frame.compute import head_grid
from viz.text import translator

PIECES = "The unbelievable hippopotamuses misunderstood electroencephalography."
SOURCE = specs.Source(kind="model", text=PIECES, model=compute.DEFAULT_MODEL)
CAUSAL = specs.Mask(kind="causal")


@pytest.mark.parametrize("view", [{}, {"merge": True, "hide": True}, {"what": "scores"}], ids=str)
def test_its_values_are_the_walls(view):
    view = specs.View(**view)
    wall, (header, part) = unpack(head_grid.wall(SOURCE, CAUSAL, view)), read_file(head_grid.away(SOURCE, CAUSAL, view))
    (stack,) = header["stacks"]
    for name in ("n_layers", "n_heads", "n_queries", "n_keys", "rows", "columns", "pool", "what", "order"):
        assert stack[name] == wall[name], name
    n = len(compute.read(SOURCE).tokens.ids)
    if stack["wall"]:
        result = codes(part(*stack["wall"]), wall["values"].numel())
    else:
        result = torch.cat([codes(part(*head), n * n) for head in stack["heads"]])
    assert torch.equal(result, wall["values"].long())
    assert len(stack["heads"]) == (0 if view.what == "scores" else 72)


@pytest.mark.parametrize("n_heads", [1, 12, 72, 270])
def test_what_is_offered_is_exact(n_heads):
    most = page_file.longest(n_heads)
    assert [pool_of(n_heads, n, n) for n in (most, most + 1)] == [1, 2]


@pytest.mark.parametrize("source", ["embeddings", "words"])
def test_offered_for_seeded_heads(open_app, source):
    app = open_app(text=PIECES, source=source)
    app.button_group(key="_footer_all_heads").set_value("downloads").run()
    assert not app.exception
    assert translator("en")("export.page") in [button.proto.label for button in app.get("download_button")]


def test_built_only_on_request(open_app, monkeypatch):
    requests = []
    monkeypatch.setattr(head_grid, "away", lambda *spec: requests.append(spec))
    app = open_app(text=PIECES)
    app.button_group(key="_footer_all_heads").set_value("downloads").run()
    t = translator("en")
    assert t("export.page") in [button.proto.label for button in app.get("download_button")]
    assert requests == []
    app = open_app(text=" ".join([PIECES] * 12))
    app.button_group(key="_footer_all_heads").set_value("downloads").run()
    assert t("export.page") not in [button.proto.label for button in app.get("download_button")]
    n = len(compute.read(specs.Source(kind="model", text=" ".join([PIECES] * 12), model=SOURCE.model)).tokens.ids)
    sentences = t("export.page_too_long", n=n, most=page_file.longest(72), heads=72)
    assert sentences in [caption.value for caption in app.caption]
