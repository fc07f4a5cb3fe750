"""Soft cap and QK-norm: values by hand, torch's own norm, and a tight bound."""

import math
from functools import partial
from typing import Any

import pytest
import torch
from torch.nn.functional import rms_norm
from torch.testing import assert_close

from tests.core.tensors import draw
from viz.core.heads import share_kv
from viz.core.positions import rope
from viz.core.variants.today.bounded_scores import Place, QKNorm, largest_score, norm_queries_and_keys, soft_cap

H, G, T, D = 6, 3, 7, 10
EPS = 1e-6
turn = partial(rope, pairing="halves")
PAIRS = torch.arange(D).view(2, -1).mT  # halves: j and j + d / 2


def gains(heads: int = 1, seed: int = 0) -> torch.Tensor:
    return draw(heads * D, seed=seed) + 0.1


def test_soft_cap_by_hand():
    """Small scores stay, large ones stop at the cap, and an infinite cap changes nothing."""
    scores = torch.tensor([-1e9, 0.0, 3.0, 1e9])
    assert_close(soft_cap(3.0)(scores), torch.tensor([-3.0, 0.0, 3 * math.tanh(1), 3.0]))
    assert torch.equal(soft_cap(math.inf)(scores), scores)
    for cap in (0.0, -1.0, math.nan):
        with pytest.raises(ValueError, match=r"^cap=\S+ must be above 0$"):
            soft_cap(cap)


def test_norm_of_heads_equals_torch():
    """Each head by itself, before the turn."""
    q, k = draw(H, T, D), draw(G, T, D, seed=1)
    norm = QKNorm(place="head", q_gain=gains(seed=2), k_gain=gains(seed=3), eps=EPS)
    q_hat, k_hat = norm_queries_and_keys(q, k, norm, turn=turn)
    assert_close(q_hat, turn(rms_norm(q, (D,), norm.q_gain, EPS)))
    assert_close(k_hat, turn(rms_norm(k, (D,), norm.k_gain, EPS)))


def test_norm_of_all_heads_equals_torch():
    """All heads as one long vector, before the turn: queries and keys are of different lengths then."""
    q, k = draw(H, T, D), draw(G, T, D, seed=1)
    norm = QKNorm(place="all_heads", q_gain=gains(H, seed=2), k_gain=gains(G, seed=3), eps=EPS)
    q_hat, k_hat = norm_queries_and_keys(q, k, norm, turn=turn)
    for x, x_hat, gain, heads in ((q, q_hat, norm.q_gain, H), (k, k_hat, norm.k_gain, G)):
        rows = rms_norm(x.transpose(0, 1).reshape(T, heads * D), (heads * D,), gain, EPS)
        assert_close(x_hat, turn(rows.view(T, heads, D).transpose(0, 1)))


def test_norm_after_turn_equals_torch():
    """After the turn; without gains the order makes no difference, for a turn keeps lengths."""
    q, k = draw(H, T, D), draw(G, T, D, seed=1)
    norm = QKNorm(place="after_turn", q_gain=gains(seed=2), k_gain=gains(seed=3), eps=EPS)
    q_hat, k_hat = norm_queries_and_keys(q, k, norm, turn=turn)
    assert_close(q_hat, rms_norm(turn(q), (D,), norm.q_gain, EPS))
    assert_close(k_hat, rms_norm(turn(k), (D,), norm.k_gain, EPS))
    bare = [norm_queries_and_keys(q, k, QKNorm(place=place), turn=turn)[0] for place in ("head", "after_turn")]
    assert_close(*bare, atol=1e-7, rtol=0)


def climb(norm: QKNorm) -> float:
    """Make queries and keys whose score is large by hill climbing, behind RoPE, and return it."""
    q, k = draw(H, T, D).requires_grad_(), draw(G, T, D, seed=1).requires_grad_()
    optimizer, best = torch.optim.Adam([q, k], lr=0.1), 0.0
    for _ in range(300):
        q_hat, k_hat = norm_queries_and_keys(q, k, norm, turn=turn)
        score = (q_hat @ share_kv(k_hat, H).mT).abs().max() / math.sqrt(D)
        best = max(best, float(score.detach()))
        optimizer.zero_grad()
        (-score).backward()
        optimizer.step()
    return best


def largest_aligned_score(norm: QKNorm) -> float:
    """Return the largest score of queries and keys that have all their length in a single number, without a turn."""
    best = 0.0
    for h in range(H):
        for j in range(D):
            q, k = (torch.zeros(heads, 1, D, dtype=torch.float64) for heads in (H, G))
            q[h, 0, j] = k[h * G // H, 0, j] = 1.0
            q_hat, k_hat = norm_queries_and_keys(q, k, norm)
            best = max(best, float((q_hat @ share_kv(k_hat, H).mT).abs()[h].max()) / math.sqrt(D))
    return best


def norm_at(place: Place) -> tuple[QKNorm, dict[str, Any]]:
    """A norm with gains, and the sizes of its bound."""
    heads = {"q": H, "k": G} if place == "all_heads" else {"q": 1, "k": 1}
    norm = QKNorm(place=place, q_gain=gains(heads["q"], seed=2), k_gain=gains(heads["k"], seed=3), eps=0.0)
    return norm, {"d_k": D, "n_heads": H, "n_kv_heads": G}


@pytest.mark.parametrize("place", ["head", "all_heads", "after_turn"])
def test_aligned_score_reaches_bound(place):
    norm, sizes = norm_at(place)
    assert largest_aligned_score(norm) == pytest.approx(largest_score(norm, **sizes), rel=1e-9)


def test_no_score_exceeds_bound():
    """Hill climbing stays below the bound where a rotation follows the norm of all heads as one."""
    norm, sizes = norm_at("all_heads")
    assert largest_score(norm, **sizes) / 4 < climb(norm) <= largest_score(norm, **sizes, pairs=PAIRS) * (1 + 1e-9)


def test_bound_by_hand():
    """Gains (1, 3) and (2, 1) on one pair: 3 apart, 6 where a turn mixes the two; all of four heads in one."""
    q_gain, k_gain = torch.tensor([1.0, 3.0]), torch.tensor([2.0, 1.0])
    norm = QKNorm(place="head", q_gain=q_gain, k_gain=k_gain)
    assert largest_score(norm, d_k=2) == pytest.approx(3 * math.sqrt(2))
    assert largest_score(norm, d_k=2, pairs=torch.tensor([[0, 1]])) == pytest.approx(6 * math.sqrt(2))
    assert largest_score(QKNorm(place="all_heads"), d_k=9, n_heads=4) == pytest.approx(2 * 3)
    assert largest_score(QKNorm(place="after_turn"), d_k=9, pairs=torch.tensor([[0, 1]])) == pytest.approx(3)
    assert largest_score(QKNorm(place="off"), d_k=9) == math.inf


def test_turn_breaks_the_plain_bound():
    """A gain on the first number of a query and on the second of a key: their product is 0, their score is not."""
    q_gain, k_gain = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 1.0])
    norm = QKNorm(place="head", q_gain=q_gain, k_gain=k_gain, eps=0.0)
    quarter = partial(rope, pairing="halves", omega=torch.tensor([math.pi / 2]))
    q_hat, k_hat = norm_queries_and_keys(torch.tensor([[[9.0, 0.0]] * 2]), torch.tensor([[[0.0, 9.0]] * 2]), norm,
                                         turn=quarter)  # fmt: skip
    score = float((q_hat @ k_hat.mT).abs().max()) / math.sqrt(2)
    assert largest_score(norm, d_k=2) == 0
    assert score == pytest.approx(largest_score(norm, d_k=2, pairs=torch.tensor([[0, 1]])), rel=1e-6)
