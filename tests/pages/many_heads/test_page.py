"""Page *Why many heads*: its sentences equal the core's numbers, on every kind of layer."""

import pytest
import torch

from tests.running import bar_charts, checked, sentences_of
from viz.frame.mask_code import to_code
from viz.text import translator

T = translator("en")
SEEDED = {"source": "words", "text": "one two three four five two", "n_heads": 4, "d_model": 24}


@pytest.mark.parametrize(("heads", "key"), [(1, "found_one"), (2, "found_several"), (3, "found_several")])
def test_toy_loss_by_head_count(open_app, heads, key):
    """One head loses half of two neighbours, more heads lose nothing."""
    app = open_app("many_heads", toy_heads=heads)
    assert not app.exception
    assert checked(app, "two_places") == (2, 2)
    start = T(f"many_heads.two_places.{key}", lost="X", rest="X", n=heads).split("X")[0]
    (finding,) = [text for text in sentences_of(app) if text.startswith(start)]
    assert "49." in finding or "50." in finding, "one head's loss, whichever is shown"
    assert app.slider(key="toy_before").disabled == (heads > 1)


def test_fully_masked_heads_change_nothing(open_app):
    app = open_app(
        "many_heads",
        section="experts",
        mask="painted",
        painted=to_code(torch.zeros(32, 32).bool()),
        **SEEDED,
        experts_view="differ",
    )
    assert not app.exception
    assert T("many_heads.differ.averaged", n=4, change="0.0%") in sentences_of(app)


def bars_of(app, key):
    """Values of a bar chart by series name."""
    return {name: row.tolist() for name, row in bar_charts(app)[key].series.items()}


class TestExperts:
    """Pinned: SYLLABUS P1 and P3, the default model on the notes' sentence."""

    def test_other_text_lets_user_choose_words(self, open_app):
        link = {"section": "experts", "expert": "coreference", "text": "The cat left its box."}
        app = open_app("many_heads", **link)
        assert T("many_heads.experts.none_words") in [box.value for box in app.info]
        app.selectbox(key="coreference_from").set_value(4)
        app.selectbox(key="coreference_to").set_value(2).run()
        assert not app.exception and not app.info
        assert (app.query_params["coreference_from"], app.query_params["coreference_to"]) == ("4", "2")
        assert checked(app, "experts") == (4, 4)
        app.text_area(key="text").set_value("Another text.").run()
        assert app.session_state["coreference_from"] == -1, "words of a text are not those of another"

    def test_a_text_without_marks(self, open_app):
        app = open_app("many_heads", section="experts", expert="punctuation", text="no marks in here")
        assert T("many_heads.experts.none_punctuation") in [box.value for box in app.info]

    def test_no_head_is_a_logic_head(self, open_app):
        app = open_app("many_heads", section="experts", logic=1)
        assert checked(app, "experts") == (5, 5)
        ((_, heads),) = bars_of(app, "logic_turns").items()
        assert sum(heads) == 72 and heads[10] == 0
        rotated = sum(count * n for count, n in enumerate(heads)) / 72
        assert rotated == pytest.approx(0.4, abs=0.02), "SYLLABUS F6"

    @pytest.mark.parametrize(("link", "key"), [(SEEDED, "seeded"), ({"model": "twin-g1"}, "unread")])
    def test_logic_unavailable_sentence(self, open_app, link, key):
        app = open_app("many_heads", section="experts", logic=1, **link)
        assert not app.exception
        assert T(f"many_heads.logic.{key}") in sentences_of(app)
