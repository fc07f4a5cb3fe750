"""Mistakes of attention, each notes_on with what was measured, and never guessed."""

import re

import pytest
import torch

import viz
from viz import ROOT

PARTS = re.findall(r"```python\n(.*?)```(?:\n\n> ([^\n]*))?", (ROOT / "docs" / "mistakes.md").read_text("utf8"), re.S)
EXAMPLES = PARTS[1:]
TOKENS = list("abcde")


def notes_on(maps, tokens=TOKENS, **options):
    """Return the notes on maps, or the refusal."""
    try:
        return " ".join(viz.show(maps, tokens, **options).notes)
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize(("code", "sentence"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_documented_mistake_is_named(code, sentence):
    assert sentence and len(EXAMPLES) == 9
    scope = {}
    exec(PARTS[0][0].replace("headlight_viz", "viz"), scope)
    assert sentence in eval(f"notes_on([{code.strip().removeprefix('hl.show([')}", scope | {"notes_on": notes_on})


def causal(*shape):
    """Scores of shape (1, H, Q, K), masked."""
    scores = 2 * torch.randn(*shape, generator=torch.Generator().manual_seed(6))
    return scores.masked_fill(torch.ones(shape[-2:]).triu(1).bool(), -torch.inf)


OPEN = 2 * torch.randn(1, 5, 5, 5, generator=torch.Generator().manual_seed(7))
LATER = torch.ones(5, 5).triu(1).bool()
WITH_NAN = causal(1, 4, 5, 5).softmax(-1)
WITH_NAN[0, 2, 3] = torch.nan
CASES = {
    "over queries, no mask": (OPEN[:, :3].softmax(-2), r"sum to 1: the softmax .* or these maps are transposed"),
    "over heads and keys": (OPEN[:, :3].transpose(1, 2).flatten(2).softmax(-1).view(1, 5, 3, 5).transpose(1, 2),
                            "sums over heads and keys are 1"),
    "over all": (OPEN.flatten().softmax(-1).view_as(OPEN), "sums over heads and queries and keys are 1"),
    "over the batch": (OPEN.softmax(0), "Every weight is 1 or 0: .* softmax over an axis of one"),
    "percent": (100 * OPEN.softmax(-1), r"Every row sums to 100.000: layer / 100.000"),
    "exchanged, as many heads": (causal(1, 5, 5, 5).softmax(-1).transpose(1, 2), "first axis counts queries"),
    "ahead": (OPEN.masked_fill(LATER.T, -torch.inf).softmax(-1), "tokens look ahead"),
    "masked with 1e-9": (OPEN.masked_fill(LATER, 1e-9).softmax(-1), "as with 0 .or one other number. for"),
    "prefix masked late": (OPEN.softmax(-1) * (~LATER | (torch.arange(5) < 2)), "a mask after the softmax"),
    "minus infinity late": (OPEN.softmax(-1).masked_fill(LATER, -torch.inf), "All are above the diagonal"),
    "-1e9 late": (OPEN.softmax(-1) - 1e9 * LATER, "All are above the diagonal: a mask after the softmax"),
    "over heads, masked": (causal(1, 4, 5, 5).softmax(1), "above the diagonal. The sums over heads are 1"),
    "no softmax": (causal(1, 4, 5, 5).abs().masked_fill(LATER, -torch.inf), "above the diagonal.$"),
    "over queries, masked late": (OPEN.softmax(-2) * ~LATER, "Columns without a 0 .* over queries .* mask after"),
    "masked with -1": (OPEN.masked_fill(LATER, -1.0).softmax(-1), "or one other number"),
    "mask of the other sign": (OPEN.masked_fill(LATER, 1e9).softmax(-1), "^$"),
    "softmax twice": (causal(1, 4, 5, 5).softmax(-1).softmax(-1), "second softmax"),
    "mask one too far": (OPEN.masked_fill(LATER.roll(1, 1) & LATER, -torch.inf).softmax(-1), "looks at the next: a"),
    "keys first": (OPEN[:, :4].softmax(-1).permute(0, 3, 1, 2), "Of 5 heads × 4 queries .* first axis has the keys"),
    "queries, keys, heads": (OPEN[:, :4].softmax(-1).permute(0, 2, 3, 1), "Of 5 heads × 5 queries × 4 keys: .* or th"),
    "logarithms": (OPEN.log_softmax(-1), "They are logarithms"),
    "a row of NaN": (WITH_NAN, "1 rows have such, the first is that of token 3 in head 2. All of that row is NaN"),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_mistake_is_measured(what):
    maps, sentence = CASES[what]
    assert re.search(sentence, notes_on([maps]))


def test_right_maps_have_no_note():
    """Of right maps, sharp ones too, nothing is sentence; of a share that is missing, only that it is."""
    for maps in (
        OPEN.softmax(-1),
        causal(1, 5, 5, 5).softmax(-1),
        (30 * OPEN).softmax(-1),
        torch.full((1, 5, 5, 5), 0.2),
    ):
        assert notes_on([maps]) == ""
    missing = OPEN.softmax(-1) * torch.linspace(0.5, 0.9, 5)[:, None]
    assert notes_on([missing]) == "Rows sum to 0.500 to 0.900. The missing share has a column of its own."


@pytest.mark.parametrize("n_kv", [1, 2, 4])
def test_scale_is_fitted(n_kv):
    """Shared keys, every factor, 16 bits; other queries fit none, and k q is told from q k."""
    q, k = torch.randn(1, 4, 5, 16), torch.randn(1, n_kv, 5, 16)
    scores = (q @ k.repeat_interleave(4 // n_kv, 1).mT).masked_fill(LATER, -torch.inf)
    for factor, sentence in (
        (0.25, "by 0.25, which is 1/√d"),
        (1 / 16, "by 0.0625, and 1/√d is 0.25"),
        (1, "by 1, and"),
    ):
        assert sentence in notes_on([(factor * scores).softmax(-1)], q=q, k=k)
    assert "No factor" in notes_on([scores.softmax(-1)], q=torch.randn(4, 5, 16), k=k)
    for factor in (1e6, 1e-7):
        assert "no factor can be measured" in notes_on([(factor * scores).softmax(-1)], q=q, k=k)
    assert "No factor" in notes_on([(1e-3 * scores).softmax(-1)], q=torch.randn(4, 5, 16), k=k)
    tiled = (q @ k.repeat(1, 4 // n_kv, 1, 1).mT).softmax(-1)
    assert ("k.repeat(...), multiplied by 1" in notes_on([tiled], q=q, k=k)) == (n_kv == 2)
    wrong_way = k.repeat_interleave(4 // n_kv, 1) @ q.mT
    assert "k @ q.mT, multiplied by 0.25" in notes_on([(0.25 * wrong_way).softmax(-1)], q=q, k=k)
    assert "heads × queries × d" in notes_on([scores.softmax(-1)], q=q[..., :3], k=k)


def test_rows_of_two_maps_together():
    """One softmax over a decoder's own tokens and the encoder's, handed out in two parts."""
    both = torch.randn(1, 3, 4, 9).softmax(-1)
    encoder = torch.randn(1, 3, 5, 5).softmax(-1)
    sentence = notes_on(([encoder], [both[..., :4]], [both[..., 4:]]), (TOKENS, list("wxyz")))
    assert sentence.count("one softmax over both texts") == 2 and "missing" not in sentence
