"""Families whose own code hands out its maps alone: shown exactly, in the app as in a notebook."""

from itertools import product

import pytest
import torch
from torch.testing import assert_close

import viz
from tests.checkpoints import FAMILIES, MAPS, MORE, TEXT, eager, open_folder, save
from tests.running import checked
from tools.published import FAILED, REFUSED, WORKS, offer, open_everywhere
from viz.models import ModelError, capture
from viz.models.layout import families
from viz.models.long import capture as long_texts
from viz.models.long.capture import long_capture, longest
from viz.models.positions import capture_placed


def test_maps_families_are_tested():
    assert set(MAPS) == set(families(maps_only=True))


@pytest.mark.parametrize("name", MAPS)
def test_maps_equal_eager_and_notebook(name, tmp_path):
    """The app and ``viz.show`` show the same, and both equal transformers' own weights."""
    folder = save(name, tmp_path / name)
    ours, theirs = open_folder(folder), eager(name, folder)
    text_capture = capture(ours, TEXT)
    ids = ours.tokenizer(TEXT, return_tensors="pt").input_ids
    assert list(text_capture.tokens.ids) == ids[0].tolist(), "no text is cut"
    with torch.inference_mode():
        maps = theirs(ids, output_attentions=True).attentions
    grid = viz.show(theirs, ours.tokenizer, {"input_ids": ids})
    assert text_capture.n_layers == len(maps) == len(grid._maps["self"].layers)
    for i, weights in enumerate(maps):
        assert_close(text_capture.layer(i).weights, weights[0], atol=4e-6, rtol=0)
        assert_close(grid._maps["self"].layers[i], weights[0], atol=1e-6, rtol=0)
        assert text_capture.calls[i].maps_only
    long = long_capture(ours, text_capture.tokens)
    assert long.causal is bool((torch.stack(maps).triu(1) == 0).all())
    every = torch.arange(ids.shape[1])
    for i, head in product(range(len(maps)), range(maps[0].shape[1])):
        assert_close(long.rows_of(i, head, every), maps[i][0, head], atol=1e-5, rtol=0)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted(FAMILIES | MORE))
def test_notebook_shows_families(name, tmp_path):
    """A family that the app opens is opened by ``viz.show``: the layers and heads of every stack."""
    folder = save(name, tmp_path / name)
    ours, theirs = open_folder(folder), eager(name, folder)
    target = {"target": TEXT} if theirs.config.is_encoder_decoder else {}
    stacks, grid = capture(ours, TEXT).stacks, viz.show(theirs, ours.tokenizer, TEXT, **target)
    for stack, calls in stacks.items():
        maps = grid._maps[stack if target else "self"]
        assert (len(maps.layers), maps.shape[0]) == (len(calls), len(calls[0].q))


def test_long_maps_are_bounded(tmp_path, monkeypatch):
    """All maps are kept, so that a text is the shorter the more of them there are."""
    ours = open_folder(save("gpt_neo", tmp_path / "gpt_neo"))
    assert longest(ours) == ours.max_tokens == 61
    monkeypatch.setattr(long_texts, "MOST_WEIGHTS", 2 * 4 * 50**2)
    assert longest(ours) == 50


def test_maps_without_vectors_are_refused(tmp_path):
    """A request for queries, keys or values is refused in a sentence."""
    ours = open_folder(save("gpt_neo", tmp_path / "gpt_neo"))
    tokens = capture(ours, TEXT).tokens
    for request in (lambda: capture(ours, TEXT, heads_off=frozenset({(0, 1)})),
                    lambda: capture_placed(ours, tokens, torch.zeros(len(tokens.ids), 40))):  # fmt: skip
        with pytest.raises(ModelError) as error:
            request()
        assert error.value.code == "maps"


@pytest.mark.parametrize(("page", "section"), [("heads", "all_heads"), ("long_text", "wall")])
def test_pages_show_maps(open_app, monkeypatch, tmp_path, page, section):
    model = offer(monkeypatch, "gpt_neo", tmp_path / "gpt_neo")
    app = open_app(page, model=model, source="model", section=section, text=TEXT, layer=1)
    assert not app.exception and not app.error and checked(app, section)[0] >= 3


@pytest.mark.long
@pytest.mark.parametrize("name", MAPS)
def test_maps_fail_on_no_page(open_app, monkeypatch, tmp_path, name):
    outcomes = []
    model = offer(monkeypatch, name, tmp_path / name)
    counts = open_everywhere(open_app, model, report=outcomes.append, layer=1, head=1)
    assert not [outcome for outcome in outcomes if outcome.kind == FAILED]
    assert counts[WORKS] >= 37
    assert {outcome.page for outcome in outcomes if outcome.kind == REFUSED}.isdisjoint({"atlas", "long_text"})
