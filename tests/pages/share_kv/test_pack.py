"""View data of shared keys and values: the numbers in the order that the browser expects."""

import numpy as np
import pytest
import torch

import viz.components.unpack
from pages.share_kv.pack import pack_cache, pack_sharing

G, H, T, D_K, D_V = 2, 6, 7, 5, 3


def unpack(data):
    header, blocks = viz.components.unpack.unpack(data)
    return header | blocks


def random_tensor(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)))


def test_brackets():
    k, v, weights = random_tensor(G, T, D_K), random_tensor(G, T, D_V), random_tensor(H, T, T).softmax(-1)
    payload = unpack(pack_sharing(k, v, weights, reads=[0, 0, 0, 1, 1, 1], labels=("<b>",), words={}, hues={}))
    assert {name: payload[name] for name in ("n_heads", "n_kv_heads", "n", "d_k", "d_v")} == {
        "n_heads": H, "n_kv_heads": G, "n": T, "d_k": D_K, "d_v": D_V,
    }  # fmt: skip
    assert payload["reads"] == [0, 0, 0, 1, 1, 1]
    assert payload["labels"] == ["<b>"]
    np.testing.assert_array_equal(payload["k"].reshape(G, T, D_K), k.numpy())
    np.testing.assert_array_equal(payload["v"].reshape(G, T, D_V), v.numpy())
    np.testing.assert_allclose(payload["weights"].reshape(H, T, T) / 65535, weights.numpy(), atol=1e-5)
    assert payload["limits"] == {"k": pytest.approx(float(k.abs().max())), "v": pytest.approx(float(v.abs().max()))}


def test_cache():
    payload = unpack(
        pack_cache(random_tensor(G, T, D_K), torch.zeros(G, T, D_V), token_bytes=32, mha_token_bytes=96, labels=())
    )
    assert (payload["token_bytes"], payload["mha_token_bytes"]) == (32, 96)
    assert payload["limits"]["v"] == 1.0  # all zero: nothing to divide by
