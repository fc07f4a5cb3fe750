"""The atlas on the page: from a file or computed now, a head and what speaks against its label, the way to Heads."""

import itertools

import pytest
from torch.testing import assert_close

from pages.atlas import compute as atlas_compute
from pages.atlas.context import format_score, own_lines
from pages.atlas.progress import BEFORE
from tests.packaged import packaged_file
from tests.pages.faults.fault import forget_all
from tests.running import checked, matrices, sentences_of
from tools.published import offer
from viz import limits
from viz.models.atlas.corpus import LONGEST, sentences
from viz.models.atlas.file import path_of, read
from viz.models.atlas.make import seconds
from viz.models.atlas.random_weights import SEEDS
from viz.text import translator

T = translator("en")
OWN_LINES = {
    "model": "twin-g1",
    "atlas_corpus": "own",
    "text": "the old cat\n\nthe cat sees the dog\na red house is big",
}


def cells(app):
    ((_, result),) = matrices(app).values()
    return result


def page_texts(app):
    return " ".join(
        [*sentences_of(app), *(element.value for kind in ("caption", "text", "info") for element in app.get(kind))]
    )


def test_opening_reads_default_models_file(open_app, monkeypatch):
    """Open on the default model's file and the head with the largest score."""
    monkeypatch.setattr(atlas_compute.make, "score_lines", None)  # nothing of the corpus is read again
    app = open_app("atlas")
    atlas = read(path_of("all-MiniLM-L6-v2", "en").read_text("utf-8"))
    assert_close(cells(app), atlas.scores["previous"].mean)
    assert (app.session_state["atlas_layer"], app.session_state["atlas_head"]) == (0, 2)
    assert T("atlas.label_held", label=T("atlas.s_previous"), n=203) in page_texts(app)
    assert atlas.made in page_texts(app)
    assert checked(app, "map") == (8, 8)


@pytest.mark.parametrize("name", ["first", "separators", "same"])
def test_random_models_sentence_names_maximum(open_app, name):
    """One random model may stay low: the sentences say of how many models the number is the largest."""
    score = read(path_of("all-MiniLM-L6-v2", "en").read_text("utf-8")).scores[name]
    chance = format_score(name, float(score.chance.max()))
    assert len(score.chance) == 5 and SEEDS == (0, 1, 2, 3, 4)
    assert "five copies of the model" in T("atlas.map.why") and "seeds 0 to 4" in T("atlas.map.why")
    assert "重新抽取五次" in translator("zh")("atlas.map.why") and "种子 0 到 4" in translator("zh")("atlas.map.why")
    for section, code in (("map", "atlas_score"), ("spread", "atlas_of")):
        app = open_app("atlas", section=section, **{code: name})
        app.session_state[f"_footer_{section}"] = "why"
        text = page_texts(app.run())
        assert f"he largest in 5 models with random parameters is {chance}" in text
        above = int((score.mean > score.chance.max()).sum())
        result = f"{above} of 72 heads have more than any head of 5 models with random parameters"
        assert (result in text) == (section == "spread")


def test_contradicting_sentence_opens_on_heads(open_app):
    """Show the sentences that contradict a label; a click opens one on Heads."""
    app = open_app("atlas", atlas_layer=0, atlas_head=5)
    score = read(path_of("all-MiniLM-L6-v2", "en").read_text("utf-8")).scores["previous"]
    against, worst = int(score.against[0, 5]), sentences("en")[int(score.low[0, 0, 5])]
    assert 0 < against < 203
    assert T("atlas.label_against", label=T("atlas.s_previous"), against=against, n=203, hurdle="0.25") in page_texts(
        app
    )
    assert T("atlas.against") in [part.value for part in app.subheader] and worst in page_texts(app)
    app.button(key="atlas_open_map_low_0").click().run()
    assert not app.exception
    assert [app.session_state[name] for name in ("text", "layer", "head")] == [worst, 0, 5]


def test_every_score_passes_checks(open_app):
    app = open_app("atlas", section="map")
    for name in app.selectbox(key="atlas_score").options:
        code = next(
            code for code in atlas_compute.on_file("all-MiniLM-L6-v2", "en").scores if T(f"atlas.s_{code}") == name
        )
        app.selectbox(key="atlas_score").set_value(code).run()
        assert not app.exception
        n_passed, n = checked(app, "map")
        assert n_passed == n >= 1, code


def test_own_lines_pass_checks(open_app):
    """Compute the user's lines at once; mean and interval pass their checks."""
    app = open_app("atlas", **OWN_LINES)
    assert T("atlas.from_now", model="twin-g1", heads=16, corpus=T("atlas.of_own", n=3)) in page_texts(app)
    assert checked(app, "map") == (9, 9)
    assert "the cat sees the dog" in page_texts(app)


@pytest.mark.long
@pytest.mark.parametrize(("n_words", "n_cut"), [(LONGEST - 2, 0), (LONGEST - 1, 1)])
def test_long_own_line_truncated_with_note(open_app, n_words, n_cut):
    """The model adds two tokens to the words."""
    long = " ".join(itertools.islice(itertools.cycle(("the", "animal", "crossed", "a", "street")), n_words))
    app = open_app("atlas", section="map", atlas_corpus="own", text=f"{long}\nthe old cat")
    assert (T("atlas.lines_cut", n=n_cut, most=LONGEST) in page_texts(app)) == bool(n_cut)
    for code, n_checks in (("previous", 9), ("same", 9), ("distance", 9), ("window", 6)):
        app.selectbox(key="atlas_score").set_value(code).run()
        assert checked(app, "map") == (n_checks, n_checks), code


def test_stopped_computation_shows_part_and_resumes(open_app, monkeypatch):
    monkeypatch.setattr(atlas_compute, "CHUNK", 1)
    forget_all()
    app = open_app("atlas", **OWN_LINES)
    lines = own_lines(OWN_LINES["text"])
    assert len(lines) == 3
    forget_all()
    app.session_state["_atlas_stopped"] = (("twin-g1", "own", lines), BEFORE + 1)  # and one line
    app.run()
    assert T("atlas.stopped", done=BEFORE + 1, n=BEFORE + 3) in page_texts(app)
    assert T("atlas.from_now", model="twin-g1", heads=16, corpus=T("atlas.of_own", n=1)) in page_texts(app)
    app.button(key="atlas_go_on").click().run()
    assert T("atlas.from_now", model="twin-g1", heads=16, corpus=T("atlas.of_own", n=3)) in page_texts(app)
    forget_all()


def test_model_without_file_awaits_click(open_app, monkeypatch):
    app = open_app("atlas", model="twin-g1")
    assert T("atlas.not_yet", model="twin-g1", n=203) in page_texts(app) and not matrices(app)
    assert page_texts(app).count(T("atlas.takes", seconds=seconds(16, 203))) == 2, "before either click that begins"
    monkeypatch.setattr(limits, "ATLAS_PARAMETERS", 1_000_000_000)
    monkeypatch.setattr("pages.atlas.context.sentences", lambda lang: sentences(lang)[:5])
    app.button(key="atlas_compute").click().run()
    assert app.query_params["atlas_now"] in ("1", ["1"])
    assert cells(app).shape == (2, 8)
    monkeypatch.setattr(limits, "ATLAS_PARAMETERS", 1)
    app.run()
    assert T("atlas.too_large", model="twin-g1", most=0) in page_texts(app)
    assert not app.get("toggle") and T("atlas.takes", seconds=seconds(16, 203)) not in page_texts(app)


def test_refused_model_is_offered_nothing(open_app, monkeypatch, tmp_path):
    """A model whose heads have a gate is refused in a sentence at once, not after a click or a computation."""
    monkeypatch.setattr(atlas_compute.make, "score_lines", None)
    model = offer(monkeypatch, "Trinity-Mini", tmp_path / "model")
    for corpus in ("en", "own"):
        app = open_app("atlas", model=model, atlas_corpus=corpus)
        assert not app.exception and "by a gate before W_O" in " ".join(box.value for box in app.error)
        assert not app.get("toggle") and not [button for button in app.button if button.key == "atlas_compute"]


def test_server_without_computation_offers_files(open_app, monkeypatch):
    """Offer the packaged atlases on a server that computes none."""
    monkeypatch.setattr(limits, "ATLAS_NOW", False)
    monkeypatch.setattr(atlas_compute.make, "score_lines", None)
    app = open_app("atlas", **OWN_LINES, atlas_now=True)
    assert T("atlas.off") in page_texts(app) and not matrices(app)
    assert not app.get("toggle") and T("atlas.takes", seconds=seconds(16, 203)) not in page_texts(app)
    app.button(key="atlas_ready_all-MiniLM-L6-v2").click().run()
    assert cells(app).shape == (6, 12) and not {"atlas_corpus", "atlas_now"} & app.query_params.keys()


def test_e5_defaults_to_chinese_corpus(open_app):
    packaged_file("multilingual-e5-small")
    app = open_app("atlas", model="multilingual-e5-small", lang="zh")
    zh = translator("zh")
    assert zh("atlas.of_zh", n=203) in page_texts(app) and cells(app).shape == (12, 12)
    assert "atlas_corpus" not in app.query_params


def test_own_lines_limited_without_empty_lines():
    assert own_lines(" a \n\n  \nb") == ("a", "b")
    assert len(own_lines("x\n" * 500)) == limits.ATLAS_LINES


@pytest.mark.long
@pytest.mark.usefixtures("memory_given_back")
def test_decoder_only_scores_pass_checks(open_app):
    packaged_file("SmolLM2-135M-Instruct")
    app = open_app("atlas", model="SmolLM2-135M-Instruct", atlas_score="induction")
    assert (app.session_state["atlas_layer"], app.session_state["atlas_head"]) == (18, 6)
    assert T("atlas.label_held", label=T("atlas.s_induction"), n=16) in page_texts(app)
    for score in ("copying", "removal"):
        app.selectbox(key="atlas_score").set_value(score).run()
        assert not app.exception and cells(app).shape == (30, 9)
        assert checked(app, "map") == (7, 7)
    assert T("atlas.found_none_asked", score=T("atlas.s_removal")) in page_texts(app)
