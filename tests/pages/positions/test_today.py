"""The section on positions of today: its sentences by hand, and checks that hold in both languages."""

import pytest
import torch
from transformers.models.ministral3.modeling_ministral3 import get_llama_4_attn_scale

from tests.running import sentences_of
from viz.core.variants.today.angles import temperatures
from viz.text import LANGUAGES, translator

T = translator("en")
SEEDED = {"source": "words", "text": "one two three four five two", "d_model": 64, "n_heads": 4}


def unstretched(pairs, longest):
    return {"turned": pairs, "kept": pairs, "part": 0, "full": 0, "s": 1, "before": longest, "after": longest}


@pytest.mark.parametrize(
    ("link", "key", "values"),
    [
        # 8 pairs, base 10,000, T = 4,096: pair j turns 651.9 · 10^(-j/2) times, 32 times at j = 2.6, once at j = 5.6
        ({}, "says", {"turned": 8, "kept": 3, "part": 3, "full": 2, "s": 8, "before": "19,869", "after": "158,953"}),
        ({"today_factor": 1}, "says", unstretched(8, "19,869")),
        ({"today_share": 0.5, "today_factor": 1}, "says", unstretched(4, "6,283")),
        ({"today_share": 0}, "none", {}),
    ],
)
def test_today_sentences_by_hand(open_app, link, key, values):
    """At s = 1 with all numbers turning both maps are the same."""
    app = open_app("positions", section="today", **SEEDED | link)
    longest = {"before": "12", "after": "12"}  # 2π · 2^(7/8) positions at base 2
    assert T(f"positions.today.{key}", **longest | {"pairs": 8} | values) in sentences_of(app)
    assert (T("positions.today.change", off="0") in sentences_of(app)) == (link == {"today_factor": 1})


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
