"""Training learns the hidden convolution, and the same configuration gives the same run."""

from collections.abc import Iterator
from itertools import islice

import pytest
import torch
from jaxtyping import config
from torch.nn.functional import conv2d, pad

from viz.core.variants.learn_convolution import STARTS, Lesson, effective_kernel, learn, teacher
from viz.core.variants.relative import heads_from_kernel, value_heads

GOOD = 1e-4


@pytest.fixture(scope="module")
def quick() -> Iterator[None]:
    """Switch off shape checks for thousands of small steps; the shorter tests check shapes."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


@pytest.mark.usefixtures("quick")
def test_trained_heads_reach_hidden_kernel():
    """The loss falls to a ten-thousandth, centres are no whole numbers, and the heads amount to the kernel."""
    lesson = Lesson(seed=0)
    first, last = learn(lesson, every=600)
    assert last.loss < GOOD < 0.1 < first.loss
    away = (last.heads.offset - last.heads.offset.round()).abs().amax(-1)
    assert away.max() > 0.2
    kernel = effective_kernel(last.heads, 2)
    torch.testing.assert_close(kernel, pad(teacher(lesson).kernel, (1, 1, 1, 1)), rtol=0, atol=0.05)


def test_teacher_equals_torch_convolution():
    goal = teacher(Lesson(seed=3))
    layer = torch.nn.Conv2d(1, 1, 3, padding=1, padding_mode="replicate", bias=False)
    layer.weight.data = goal.kernel
    torch.testing.assert_close(layer(goal.image[None])[0], goal.target)


@pytest.mark.usefixtures("quick")
def test_fixed_alpha_stays():
    *_, fixed = learn(Lesson(seed=0, free_alpha=False, alpha=7.0, steps=30))
    assert torch.allclose(fixed.heads.alpha, torch.full((9,), 7.0))


@pytest.mark.parametrize("start", list(STARTS))
def test_resumed_run_equals_uninterrupted_run(start: str):
    lesson = Lesson(seed=5, start=start, steps=13)
    uninterrupted = list(learn(lesson, every=5))
    run = learn(lesson, every=5)
    first = list(islice(run, 2))
    torch.randn(3)  # other random numbers in between
    rest = list(run)
    assert [shot.step for shot in uninterrupted] == [0, 5, 10, 13]
    for expected, resumed in zip(uninterrupted, first + rest, strict=True):
        assert expected.loss == resumed.loss
        assert torch.equal(expected.heads.offset, resumed.heads.offset)


def test_a_snapshot_does_not_change_afterwards():
    run = learn(Lesson(seed=0, steps=40), every=20)
    first = next(run)
    before = first.heads.offset.clone(), first.heads.weights.w_o.clone()
    list(run)
    assert torch.equal(first.heads.offset, before[0])
    assert torch.equal(first.heads.weights.w_o, before[1])
    assert not first.heads.offset.requires_grad


def test_effective_kernel_equals_layer():
    generator = torch.Generator().manual_seed(0)
    heads = value_heads(
        torch.randn(5, 2, generator=generator), torch.full((5,), 2.0), torch.randn(5, 3, 2, generator=generator)
    )
    image = torch.randn(3, 19, 17, generator=generator)
    expected = conv2d(image[None], effective_kernel(heads, 5))[0]
    torch.testing.assert_close(heads.layer(image)[:, 5:-5, 5:-5], expected, rtol=1e-4, atol=1e-4)
    kernel = torch.randn(2, 3, 3, 3, generator=generator)
    torch.testing.assert_close(effective_kernel(heads_from_kernel(kernel, alpha=46.0), 1), kernel)


def test_invalid_lesson_is_refused():
    with pytest.raises(ValueError, match="start='nowhere' is none of scattered, middle, cells"):
        Lesson(seed=0, start="nowhere")
    with pytest.raises(ValueError, match="n_heads=0 must be above 0"):
        Lesson(seed=0, n_heads=0)
