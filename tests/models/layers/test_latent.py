"""Latent attention: the matrices for W_K and W_V equal the model's own modules on its latent vectors."""

import pytest
import torch
from torch import Tensor
from torch.nn.functional import linear
from torch.testing import assert_close

from tests.checkpoints import LATENT, LATENT_SIZES, NEWER, TEXT, eager, open_folder, save
from viz.models import capture
from viz.models.capture import Call
from viz.models.long.capture import long_capture
from viz.models.tokens import read_text


def projected(call: Call, letter: str) -> Tensor:
    """Keys or values of every head as the core's matrices make them, (H, T, width), before any turn."""
    return (call.memory @ getattr(call.projections, f"w_{letter}")).unflatten(-1, (len(call.q), -1)).transpose(0, 1)


@pytest.mark.parametrize("name", [name for name in LATENT if name not in NEWER])
def test_key_value_matrices_equal_modules(name, tmp_path):
    """Of every layer: the up-projection of the normed c, and the numbers that all heads share."""
    folder = save(name, tmp_path / name)
    ours, theirs = open_folder(folder), eager(name, folder)
    text_capture = capture(ours, TEXT)
    ids = torch.tensor([text_capture.tokens.ids])
    read: list[Tensor] = []
    modules = [theirs.base_model.layers[layer.index].self_attn for layer in ours.layers]
    hooks = [m.kv_a_proj_with_mqa.register_forward_pre_hook(lambda _, args: read.append(args[0][0])) for m in modules]
    with torch.inference_mode():
        theirs(input_ids=ids)
        for call, module, x in zip(text_capture.calls, modules, read, strict=True):
            assert call.latent is not None
            c, r = linear(x, module.kv_a_proj_with_mqa.weight).split([call.latent.c, call.latent.r], dim=-1)
            keys_values = (
                linear(module.kv_a_layernorm(c), module.kv_b_proj.weight).unflatten(-1, (6, -1)).transpose(0, 1)
            )
            d_v = LATENT_SIZES["v_head_dim"]
            tolerance = 1e-5 * float(keys_values.abs().max())
            assert_close(projected(call, "v"), keys_values[..., -d_v:], atol=tolerance, rtol=0)
            assert_close(call.v, keys_values[..., -d_v:], atol=tolerance, rtol=0)
            expected = torch.cat([keys_values[..., :-d_v], r.expand(6, -1, -1)], dim=-1)
            assert_close(projected(call, "k"), expected, atol=tolerance, rtol=0)
    for hook in hooks:
        hook.remove()


@pytest.mark.parametrize(("name", "c_q"), [("deepseek_v3", 13), ("deepseek_v2", None)])
def test_latent_sizes_are_those_configured(name, c_q, tmp_path):
    """Values are narrower than keys; W_Q reads a short vector, or the token's own."""
    model = open_folder(save(name, tmp_path / name))
    call = capture(model, TEXT).calls[1]
    assert call.latent is not None and call.latent.c_q == c_q
    assert call.memory.shape[1] == call.latent.c + call.latent.r == model.model.config.kv_lora_rank + 4
    assert call.x.shape[1] == (c_q or 60)
    assert call.v.shape[-1] == 5 and call.k.shape[-1] == call.q.shape[-1] != 5


def test_captures_share_key_value_matrices(tmp_path):
    """They are computed once for a model: a second text takes no more memory for them."""
    model = open_folder(save("deepseek_v3", tmp_path / "deepseek_v3"))
    first, second = (capture(model, text).calls[0].projections for text in (TEXT, "Paris is old."))
    assert first.w_k.data_ptr() == second.w_k.data_ptr() and first.w_v.data_ptr() == second.w_v.data_ptr()


def test_latent_long_text_equals_short(tmp_path):
    """Queries, keys and values are kept as the ordinary capture sees them, whatever their widths."""
    model = open_folder(save("deepseek_v3", tmp_path / "deepseek_v3"))
    tokens = read_text(model.tokenizer, TEXT, model.max_tokens)
    ordinary, long = capture(model, TEXT), long_capture(model, tokens)
    for i, call in enumerate(ordinary.calls):
        assert_close(long.layers[i].queries[:], call.q, atol=1e-5 * float(call.q.abs().max()), rtol=0)
        assert long.layers[i].scale == pytest.approx(call.options["scale"])


def test_latent_head_off_leaves_output(tmp_path):
    """A silenced head's part is missing behind W_O, also where values are narrower than queries."""
    model = open_folder(save("deepseek_v3", tmp_path / "deepseek_v3"))
    full, without = capture(model, TEXT), capture(model, TEXT, heads_off=frozenset({(0, 2)}))
    assert (full.final - without.final).abs().max() > 1e-3
    assert_close(without.calls[0].v, full.calls[0].v)
