"""Mistakes put into the core on purpose: a check of the section that shows the number turns red."""

import inspect
from dataclasses import replace

import pytest

from pages.cost import compute, memory
from pages.cost.streaming import streaming_attention
from tests.running import checked
from viz.core.cost import architectures, attention, model
from viz.core.cost.architectures import Architecture
from viz.text import translator

FAULTS = {
    "cache counts H for G": (
        attention.kv_cache_bytes,
        lambda spec, *, n_tokens, n_layers, batch=1, bytes_per_value=2: (
            batch * n_tokens * n_layers * spec.H * (spec.d_k + spec.d_v) * bytes_per_value
        ),
        ["models"],
    ),
    "a window has no end in the cache": (
        model.model_kv_bytes,
        lambda m, *, n_tokens, bytes_per_value=2: (
            m.n_layers * n_tokens * m.attention.G * 2 * m.attention.d_k * bytes_per_value
        ),
        ["models"],
    ),
    "a gated feed-forward layer has two matrices": (model._matrices, lambda m: 2, ["models"]),
    "attention overtakes where it does not": (
        model.overtakes,
        lambda m: m.d_ff + 1,
        ["models"],
    ),
    "a path one step short": (
        architectures.stacked,
        lambda s, distance: distance // max(s.reach, 1),
        ["paths", "table"],
    ),
    "a path in a dilated stack by one layer too long": (
        architectures.dilated,
        lambda s, distance: len(range(distance)).bit_length() + 1,
        ["paths", "table"],
    ),
    "a recurrence reaches further": (architectures.one_by_one, lambda _, distance: distance // 2, ["paths", "table"]),
    "the longest path counts words, not distances": (
        Architecture.longest_path,
        lambda self, s: self.steps(s, s.n),
        ["table"],
    ),
    "pairs of a window go over the edge": (
        architectures.window_pairs,
        lambda n, reach: n * (2 * reach + 1),
        ["parts", "table"],
    ),
    "exponentials leave out the heads": (
        attention.softmax_exponentials,
        lambda spec, *, n_queries, n_keys: n_queries * n_keys,
        ["parts", "memory", "heads"],
    ),
    "streaming keeps no sums": (
        attention.streaming_numbers,
        lambda spec, *, n_queries, n_keys: spec.H * (n_queries + 128 * 128),
        ["memory"],
    ),
    "streaming forgets to scale down": (
        streaming_attention,
        lambda q, k, v, block=128: ((q @ k.mT).softmax(-1) @ v, q.shape[0] * (2 * q.shape[1] + block**2)),
        ["memory"],
    ),
    "a kernel is counted once": (
        architectures.convolution,
        lambda s: {"kernel": s.n * s.d * s.d},
        ["growth", "table"],
    ),
    "parameters leave out W_O": (
        attention.parameters,
        lambda spec, *, bias=False: AttentionParameters(  # noqa: F821 - the name in the module it is put into
            w_q=spec.d_model**2, w_k=spec.d_model**2, w_v=spec.d_model**2, w_o=0, biases=0
        ),
        ["heads", "models"],
    ),
    "the crossing is found one token late": (
        architectures.crossing,
        lambda first, second, sizes: 1 + sizes.d,
        ["growth"],
    ),
}


@pytest.fixture(autouse=True)
def nothing_kept():
    """Clear cached counts that hold a mistake."""
    yield
    compute.candidate_flops.clear()


def put_in(monkeypatch, function, fault):
    """Change what a function does wherever it has been imported."""
    inner = inspect.unwrap(function)
    assert fault.__code__.co_freevars == inner.__code__.co_freevars
    monkeypatch.setattr(inner, "__code__", fault.__code__)
    monkeypatch.setattr(inner, "__defaults__", fault.__defaults__)
    monkeypatch.setattr(inner, "__kwdefaults__", fault.__kwdefaults__)


@pytest.mark.parametrize("name", FAULTS)
def test_a_mistake_turns_its_sections_red(open_app, monkeypatch, name):
    function, fault, sections = FAULTS[name]
    compute.candidate_flops.clear()
    put_in(monkeypatch, function, fault)
    app = open_app("cost", section="all", cost_k=5, cost_n=5000, cost_model="Gemma-2-2B")
    assert not app.exception
    red = [section for section in sections if len({*checked(app, section)}) == 2]
    assert red == sections
    assert [element.value for element in app.error if element.value == translator("en")("truth.failed")]


@pytest.mark.parametrize("name", [element.name for element in architectures.ARCHITECTURES])
def test_wrong_order_fails_table_check(open_app, monkeypatch, name):
    wrong = [
        replace(element, order=lambda s: s.n * s.d * 7) if element.name == name else element
        for element in architectures.ARCHITECTURES
    ]
    monkeypatch.setattr("pages.cost.classic_table.ARCHITECTURES", tuple(wrong))
    app = open_app("cost", section="table")
    n_passed, n = checked(app, "table")
    assert n_passed == n - 1


def test_streamed_text_exceeds_two_tiles():
    assert memory.STREAMED_TOKENS > 2 * attention.STREAMING_BLOCK
