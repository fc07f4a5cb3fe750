"""Padding tokens: the displayed layer has a batch's weights; the layers before it read the padding too."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

from tests.checkpoints import TEXT, eager
from tests.models.conftest import Checkpoint, FamilyLoader
from viz.frame.specs import Mask
from viz.models import capture

PAD = 3


def real_part(weights: Tensor, *, pad_left: bool) -> Tensor:
    """Return the rows and columns of real tokens, of maps (H, Q, K)."""
    return weights[:, PAD:, PAD:] if pad_left else weights[:, :-PAD, :-PAD]


def batch_maps(model: Any, ids: Tensor, *, pad_left: bool, **options: Any) -> list[Tensor]:
    """Return the maps of transformers for a text whose end, or beginning, is marked as padding."""
    real = torch.ones_like(ids)
    real[:, slice(0, PAD) if pad_left else slice(-PAD, None)] = 0
    with torch.inference_mode():
        result = model(ids, attention_mask=real, output_attentions=True, **options)
    return [real_part(weights[0], pad_left=pad_left) for weights in result.attentions]


@pytest.mark.parametrize(
    ("family", "kind", "pad_left"),
    [("bert", "padding", False), ("bert", "padding", True), ("llama", "both", True), ("gpt2", "padding", True)],
)
def test_padding_in_first_layer_equals_batch(checkpoint: Checkpoint, load_family: FamilyLoader, family, kind, pad_left):
    """An encoder, and decoders filled up on the left, whose own mask is causal anyway."""
    text_capture = capture(load_family(family), TEXT)
    n = len(text_capture.tokens.ids)
    expected = batch_maps(eager(family, checkpoint(family)), torch.tensor([text_capture.tokens.ids]), pad_left=pad_left)
    allowed = Mask(kind=kind, pad=PAD, pad_left=pad_left).allowed(n, n)
    weights = real_part(text_capture.layer(0, allowed=allowed).weights, pad_left=pad_left)
    assert_close(weights, expected[0], atol=2e-6, rtol=0)
    assert_close(weights.sum(-1), torch.ones(weights.shape[:2]), atol=1e-5, rtol=0)


@pytest.mark.parametrize(
    ("family", "pad_left", "is_equal"),
    [("bert", False, False), ("bert", True, False), ("llama", True, False), ("llama", False, True)],
)
def test_padding_in_second_layer_differs(checkpoint: Checkpoint, load_family: FamilyLoader, family, pad_left, is_equal):
    """The first layer has read the padding: a sentence on the page on masks says so.

    On the right of a decoder no real token ever sees it, and every layer is a batch's.
    """
    text_capture = capture(load_family(family), TEXT)
    n = len(text_capture.tokens.ids)
    expected = batch_maps(eager(family, checkpoint(family)), torch.tensor([text_capture.tokens.ids]), pad_left=pad_left)
    allowed = Mask(kind="padding", pad=PAD, pad_left=pad_left).allowed(n, n)
    off = float(
        (real_part(text_capture.layer(1, allowed=allowed).weights, pad_left=pad_left) - expected[1]).abs().max()
    )
    assert (off < 1e-5) if is_equal else (off > 1e-3)


@pytest.mark.parametrize(("family", "is_equal"), [("llama", True), ("gpt2", False)])
def test_left_padding_keeps_places(checkpoint: Checkpoint, load_family: FamilyLoader, family, is_equal):
    """A batch that is continued counts places from the first real token; RoPE sees no difference, a table does."""
    text_capture = capture(load_family(family), TEXT)
    n = len(text_capture.tokens.ids)
    places = (torch.arange(n) - PAD).clamp(min=0)[None]
    model = eager(family, checkpoint(family))
    expected = batch_maps(model, torch.tensor([text_capture.tokens.ids]), pad_left=True, position_ids=places)
    allowed = Mask(kind="padding", pad=PAD, pad_left=True).allowed(n, n)
    off = float((real_part(text_capture.layer(0, allowed=allowed).weights, pad_left=True) - expected[0]).abs().max())
    assert (off < 1e-5) if is_equal else (off > 1e-3)


@pytest.mark.parametrize("family", ["t5", "bart"])
def test_padding_of_source_equals_batch(checkpoint: Checkpoint, load_family: FamilyLoader, family):
    """An encoder-decoder: the encoder's first layer, and the decoder's first look at the source's own states."""
    text_capture = capture(load_family(family), TEXT, target="Paris is big.")
    assert text_capture.target is not None
    n, m = len(text_capture.tokens.ids), len(text_capture.target.ids)
    real = torch.ones(1, n, dtype=torch.long)
    real[:, -PAD:] = 0
    model, allowed = eager(family, checkpoint(family)), Mask(kind="padding", pad=PAD)
    with torch.inference_mode():
        decoder_options = {"decoder_input_ids": torch.tensor([text_capture.target.ids]), "output_attentions": True}
        ids = torch.tensor([text_capture.tokens.ids])
        full_pass = model(ids, attention_mask=real, **decoder_options)
        # The page's layers before the visible one have no mask.
        states = model.get_encoder()(ids)
        looks = model(encoder_outputs=states, attention_mask=real, **decoder_options)
    first = text_capture.layer(0, stack="encoder", allowed=allowed.allowed(n, n)).weights
    assert_close(
        real_part(first, pad_left=False),
        real_part(full_pass.encoder_attentions[0][0], pad_left=False),
        atol=2e-6,
        rtol=0,
    )
    cross = text_capture.layer(0, stack="cross", allowed=allowed.allowed(m, n)).weights
    assert_close(cross, looks.cross_attentions[0][0], atol=5e-6, rtol=0)
    assert float((cross - full_pass.cross_attentions[0][0]).abs().max()) > 1e-3, "keys come from the last layer"
