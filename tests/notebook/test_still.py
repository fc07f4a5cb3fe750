"""A notebook without a kernel: the picture and the words that stand beside the live grid."""

import re
from base64 import b64decode
from xml.etree import ElementTree

import pytest
import torch

import viz

WORDS = ["[CLS]", "a<b>\n\n# x</b>", "$5", "`*c*`", "\x1b[31m", "]]>&", "של", '"'] * 2


def build(n_layers=3, n_heads=4, n=16):
    scores = 3 * torch.randn(n_layers, 1, n_heads, n, n, generator=torch.Generator().manual_seed(4))
    return tuple(scores.masked_fill(torch.ones(n, n).triu(1).bool(), -torch.inf).softmax(-1))


def svg_in(html):
    return ElementTree.fromstring(b64decode(re.search(r"base64,([^\"]+)", html)[1]))


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_bundle_needs_no_kernel(lang):
    """A picture without a script or another host, and words with the largest weight for an address."""
    maps = build()
    grid = viz.show(maps, WORDS, layer=2, head=1, lang=lang, title="<b>$x$\n\n# </b>")
    data, _ = grid._repr_mimebundle_()
    html, plain = data["text/html"], data["text/plain"]
    assert not re.search(r"<script|<style|https?://|onerror", html) and len(html) < 20_000
    assert "object at" not in plain and plain == repr(grid) == re.sub("^.|.$", "", repr([grid]))
    weights = maps[2][0, 1].clone()
    weights[:, ::8] = 0
    assert f"{float(weights.max()):.2f}" in plain
    assert not {"\n", "$"} & set(html) and "&lt;b&gt;&#36;x&#36;  # &lt;/b&gt;" in html
    labels = [element.text for element in svg_in(html).iter("{http://www.w3.org/2000/svg}text")]
    assert labels[:2] == ["[CLS]", "a<b>↵↵#␣x</…"] and len(labels) == 2 * 16 + 3 + 4


def test_picture_of_many_heads_is_small():
    """Of 300 tokens and 64 heads the picture is a part of a megabyte, and names no token beside the map."""
    grid = viz.show(build(4, 16, 300), ["w"] * 300, layer=1, head=5)
    data, _ = grid._repr_mimebundle_()
    assert len(data["text/html"]) < 400_000
    assert len(list(svg_in(data["text/html"]).iter("{http://www.w3.org/2000/svg}text"))) == 4 + 16


def test_cross_picture_has_every_stack():
    encoder, cross = build(2, 3, 5), tuple(torch.rand(1, 3, 4, 5).softmax(-1) for _ in range(2))
    grid = viz.show((encoder, build(2, 3, 4), cross), (list("abcde"), list("vwxy")), stack="cross", layer=1)
    data, _ = grid._repr_mimebundle_()
    assert len(list(svg_in(data["text/html"]).iter("{http://www.w3.org/2000/svg}image"))) == 4
    assert re.search("[v-y] → [a-e] 0", data["text/plain"])
