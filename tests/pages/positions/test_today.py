"""The section on positions of today: hand values, transformers' own YaRN, and checks that hold in both languages."""

import math

import pytest
import torch
from torch.testing import assert_close
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.ministral3.modeling_ministral3 import get_llama_4_attn_scale

from pages.positions.no_positions import LENGTHS, LONGEST, factor_by_hand
from pages.positions.today import Turning, products_by_hand, speeds_by_turns
from tests.running import checked, sentences_of
from viz.core.attention import row_softmax
from viz.core.positions import rope
from viz.core.variants.today.angles import temperatures, yarn_gain
from viz.frame import compute, specs
from viz.frame.format import number
from viz.text import LANGUAGES, translator

T = translator("en")
UNSTRETCHED = {"part": 0, "full": 0}
SEEDED = {"source": "words", "text": "one two three four five two", "d_model": 64, "n_heads": 4}


def turning(**options):
    return Turning(**{"width": 16, "rotary_dim": 16, "base": 10_000.0, "factor": 8, "original": 4096} | options)


@pytest.mark.parametrize(
    ("link", "n"),
    [
        ({}, 6),
        ({"model": "twin-g2", "text": "red blue red", "today_share": 0.5, "lang": "zh"}, 6),
        (SEEDED | {"today_share": 0.25, "today_factor": 128, "today_length": 64, "mask": "causal", "lang": "zh"}, 6),
        (SEEDED | {"today_share": 0, "today_factor": 1}, 5),
        (SEEDED | {"base": 2, "today_length": 131072}, 6),
        (SEEDED | {"base": 1e6, "today_share": 0.3}, 6),
        ({"source": "words", "text": "word", "d_model": 4, "n_heads": 2}, 6),
    ],
)
@pytest.mark.usefixtures("without_source_checks")
def test_today_checks_hold(open_app, link, n):
    """One check fewer where no pair turns: then there are no speeds."""
    app = open_app("positions", section="today", **link)
    assert not app.exception and not app.error
    assert checked(app, "today") == (n, n)


@pytest.mark.parametrize(
    "link",
    [
        {},
        {"model": "twin-g2", "text": "red blue red", "nope_gain": 0, "lang": "zh"},
        SEEDED | {"nope_query": 5, "nope_floor": 64, "nope_gain": 0.5},
        SEEDED | {"text": "a a a", "nope_floor": 65536},
    ],
)
@pytest.mark.usefixtures("without_source_checks")
def test_no_positions_checks_hold(open_app, link):
    app = open_app("positions", section="today", today_show="no_positions", **link)
    assert not app.exception and not app.error
    assert checked(app, "no_positions") == (5, 5)


@pytest.mark.parametrize(
    ("link", "key", "values"),
    [
        # 8 pairs, base 10,000, T = 4,096: pair j turns 651.9 · 10^(-j/2) times, 32 times at j = 2.6, once at j = 5.6
        (
            {},
            "says",
            {"turned": 8, "kept": 3, "part": 3, "full": 2, "s": 8, "before": "19,869", "after": "158,953"},
        ),
        (
            {"today_factor": 1},
            "says",
            UNSTRETCHED | {"turned": 8, "kept": 8, "s": 1, "before": "19,869", "after": "19,869"},
        ),
        (
            {"today_share": 0.5, "today_factor": 1},
            "says",
            UNSTRETCHED | {"turned": 4, "kept": 4, "s": 1, "before": "6,283", "after": "6,283"},
        ),
        ({"today_share": 0}, "none", {}),
    ],
)
def test_today_sentences_by_hand(open_app, link, key, values):
    app = open_app("positions", section="today", **SEEDED | link)
    longest = {"before": "12", "after": "12"}  # 2π · 2^(7/8) positions at base 2
    assert T(f"positions.today.{key}", **longest | {"pairs": 8} | values) in sentences_of(app)


def test_standard_changes_no_weight(open_app):
    """At s = 1 with all numbers turning both maps are the same."""
    app = open_app("positions", section="today", today_factor=1, **SEEDED)
    assert T("positions.today.change", off="0") in sentences_of(app)


@pytest.mark.parametrize(
    ("share", "factor", "original"), [(1.0, 32, 4096), (0.25, 16, 16384), (0.5, 2, 64), (1.0, 1, 512)]
)
def test_speeds_match_transformers(share, factor, original):
    """The counted turns give the speeds of the code that models run, in float32, for a part of a head as well."""
    width, base = 64, 150_000.0
    options = {
        "rope_type": "yarn",
        "rope_theta": base,
        "factor": float(factor),
        "original_max_position_embeddings": original,
        "partial_rotary_factor": share,
    }
    config = LlamaConfig(
        hidden_size=128,
        num_attention_heads=2,
        head_dim=width,
        max_position_embeddings=factor * original,
        rope_parameters=options,
    )
    speeds, gain = ROPE_INIT_FUNCTIONS["yarn"](config, torch.device("cpu"))
    current = turning(width=width, rotary_dim=int(share * width), base=base, factor=factor, original=original)
    assert_close(speeds.double(), speeds_by_turns(current), atol=0, rtol=1e-5)
    assert_close(speeds.double(), current.omega, atol=0, rtol=1e-5)
    assert gain == pytest.approx(yarn_gain(float(factor)))


def test_products_by_hand_of_one_pair():
    """Of (1, 0, 2, 3) the first two numbers turn by 1 radian a place: cos 1 + 13 one place apart, times the gain²."""
    x = torch.tensor([[1.0, 0.0, 2.0, 3.0]] * 2).double()
    current = turning(width=4, rotary_dim=2, factor=1)
    expected = torch.tensor([[14.0, 13 + math.cos(1)], [13 + math.cos(1), 14.0]]).double()
    assert_close(products_by_hand(current, x, x), expected)
    stretched = turning(width=4, rotary_dim=2, factor=100, original=10**9)
    assert_close(products_by_hand(stretched, x, x), expected * (1 + 0.1 * math.log(100)) ** 2)


def test_unturned_numbers_ignore_distance():
    """The same query and key have the same product at every distance if nothing turns, and other ones if half does."""
    x = torch.randn(1, 16, generator=torch.Generator().manual_seed(0)).double().expand(9, -1)
    still = turning(rotary_dim=0).products(x, x)
    assert_close(still, still[:1, :1].expand(9, 9))
    assert turning(rotary_dim=8).products(x, x).std() > 0.1


def test_standard_turning_is_rope():
    x = torch.randn(7, 16, generator=torch.Generator().manual_seed(0)).double()
    assert_close(turning(original=64).standard.turn(x), rope(x, pairing="halves"))


@pytest.mark.parametrize(("position", "expected"), [(0, 1.0), (8190, 1.0), (8191, 1 + 0.1 * math.log(2))])
def test_factor_by_hand_in_steps(position, expected):
    assert factor_by_hand(position, 8192, 0.1) == pytest.approx(expected, abs=1e-12)


def test_no_positions_sentence_by_long_row(open_app):
    """The weight among a million tokens, by a softmax over the row written out."""
    link = SEEDED | {"nope_query": 2, "nope_gain": 0.2}
    app = open_app("positions", section="today", today_show="no_positions", **link)
    words = specs.Source(kind="words", text=SEEDED["text"], d_model=64, n_heads=4, n_kv_heads=4)
    row = compute.read(words).layer(0).masked[2, 2].double()
    remaining = row[row < row.max()]
    copies = (LONGEST - 1) // len(remaining)
    assert 1 + copies * len(remaining) == pytest.approx(LONGEST, rel=1e-5)
    factor = 1 + 0.2 * math.log(1 + LONGEST // 8192)
    long_row = torch.cat([row.max()[None], remaining.repeat(copies)])
    before, after = (float(row_softmax((scale * long_row)[None])[0, 0]) for scale in (1.0, factor))
    numbers = {"before": number(before), "after": number(after), "factor": number(factor, 3)}
    assert T("positions.no_positions.says", n="1,048,576", **numbers) in sentences_of(app)
    assert (LENGTHS[0], LENGTHS[-1]) == (2, LONGEST)


def test_no_positions_of_one_word(open_app):
    app = open_app("positions", section="today", today_show="no_positions", source="words", text="word")
    assert [item.value for item in app.info] == [T("positions.no_positions.one_word")]


@pytest.mark.parametrize("lang", LANGUAGES)
def test_factor_starts_where_sentences_say(lang):
    """Llama 4 leaves the first F - 1 tokens as they are, Ministral 3 the first F, as transformers counts them."""
    t, floor, places = translator(lang), 16, torch.arange(40)
    assert int((temperatures(places, floor=floor) == 1).sum()) == floor - 1
    assert int((get_llama_4_attn_scale(places[None], 0.1, floor) == 1).sum()) == floor
    assert {"en": "its τ is 1 for the first F tokens", "zh": "前 F 个词元的 τ 是 1"}[lang] in t(
        "positions.no_positions.users"
    )
    llama = {"en": "in Llama 4 τ is 1 for the first F − 1 tokens", "zh": "在 Llama 4 里前 F − 1 个词元的 τ 是 1"}[lang]
    assert llama in t("positions.no_positions.why")
