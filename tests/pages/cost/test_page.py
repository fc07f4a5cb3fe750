"""The Cost page: golden numbers on the screen, sizes that cannot be, absurd sizes."""

import pytest

from tests.running import line_charts, sentences_of
from viz.text import LANGUAGES, translator

GOLDEN = {"cost_n": 10, "cost_d": 512, "cost_k": 3, "cost_h": 8}


def tables(app):
    return [element.value for element in app.markdown if element.value.startswith("|")]


def lines(app, key):
    return line_charts(app)[key]["lines"]


def frame(app, *columns):
    (result,) = [element.value for element in app.dataframe if {*columns} <= {*element.value.columns}]
    return result


def page_sentences(app):
    return "\n".join(sentences_of(app))


@pytest.mark.parametrize("lang", LANGUAGES)
def test_golden_numbers_are_on_the_page(open_app, lang):
    app = open_app("cost", section="all", lang=lang, **GOLDEN)
    assert not app.exception
    orders, parts = tables(app)
    assert "10,588,160" in orders
    assert "$O(n^2 d)$ | 51,200" in orders
    assert r"$O(n / k)$: 9" in orders
    assert r"$O(\log_k n)$: 3" in orders
    assert parts.count("2,621,440") >= 4  # W_O of both attentions, and the recurrence's two
    assert "7,864,320" in parts
    assert any("21,176,320" in element.value and "800" in element.value for element in app.caption)
    heads = frame(app, "heads", "exponentials")
    assert set(heads["parameters"]) == {"1,048,576"}
    assert set(heads["total"]) == {"10,588,160"}
    assert list(heads["heads"]) == ["1", "2", "4", "▸ 8", "16", "32", "64", "128", "256", "512"]
    assert heads["exponentials"][0] == "100"
    assert heads["exponentials"][3] == "800"


def test_heads_of_a_fixed_width(open_app):
    app = open_app("cost", section="heads", **GOLDEN, cost_fixed=1)
    heads = frame(app, "heads", "exponentials")
    assert set(heads["d_k"]) == {"64"}
    assert heads["parameters"][3] == "1,048,576"
    assert heads["parameters"][4] == "2,097,152"


@pytest.mark.parametrize("how", ["order", "exact"])
def test_curves_and_their_crossings(open_app, how):
    app = open_app("cost", cost_how=how, cost_d=256, cost_k=7, cost_h=8, section="growth")
    t = translator("en")
    crossings = {"recurrence": "256", "convolution": "1,792"} if how == "order" else {"GRU": "256", "LSTM": "512"}
    for name, n in crossings.items():
        label = t(f"cost.{name}") if name.islower() else name
        assert t("cost.crossing", name=label, n=n) in page_sentences(app)
    if how == "exact":
        assert t("cost.crossing_1", name=t("cost.recurrence")) in page_sentences(app)
    curves = lines(app, "growth")
    names = [line["name"] for line in curves]
    assert names[:2] == [t("cost.self_attention"), t("cost.window")]
    assert len(names) == (5 if how == "order" else 7)
    assert {int(n.replace(",", "")) for n in crossings.values()} <= {*curves[-1]["x"]}
    assert curves[-1]["marker"] and curves[-1]["dash"] is None


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("name", ["n", "d"])
def test_nothing_is_a_sentence(open_app, name, lang):
    app = open_app("cost", section="all", lang=lang, **{f"cost_{name}": 0})
    assert [element.value for element in app.error] == [translator(lang)("cost.too_small", name=name, value=0)]
    assert not app.exception
    app.number_input(key=f"cost_{name}").set_value(6).run()
    assert not app.error
    assert tables(app)


def test_shares_near_limits_not_rounded_over(open_app):
    app = open_app("cost", section="all", cost_n=10**9)
    assert "| <0.1% |" in tables(app)[1] and "| 0.0% |" not in tables(app)[1]
    shares = frame(app, "share")["share"]
    assert ">99.9%" in set(shares) and not {"0.0%", "100.0%"} & set(shares)
    assert "1,000 KiB" in page_sentences(open_app("cost", section="growth", cost_n=7804, view="memory"))
