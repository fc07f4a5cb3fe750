"""Next words of a decoder, by layer and by part, on the twin models."""

import pytest
import torch

from pages.next_word import compute as own_compute
from pages.next_word import context as next_word_context
from pages.next_word import decoders as next_word_decoders
from pages.next_word import presets, switch_off, writing
from pages.next_word.page import PAGE
from tests.checkpoints import make_entry
from tests.packaged import load_packaged, packaged_file
from tests.pages.faults.fault import forget_all
from tests.running import bar_charts, checked, link_of
from viz import limits
from viz.frame import available_models, compute, specs
from viz.frame.examples import examples
from viz.frame.sidebar import file_of
from viz.models.interventions import without
from viz.models.registry import SMALL_DECODER
from viz.models.stream import logits_of
from viz.models.trained.twins import GROUPS, twin_id
from viz.models.trained.twins import words as known_words
from viz.text import translator

T = translator("en")
TWIN = twin_id(2)
COPY, BIRD = presets.presets_for(TWIN)["copy"], presets.presets_for(TWIN)["bird"]
SECTIONS = [section.name for section in PAGE.sections]


def source(model=TWIN, text=COPY.text):
    return specs.Source(kind="model", text=text, model=model)


def texts(app):
    return [element.value for element in app.text]


# --- Who has words ---------------------------------------------------------------------------------------------------


@pytest.fixture
def twins_only(monkeypatch):
    """A machine that has no other decoders."""
    for module in (next_word_context, next_word_decoders):
        monkeypatch.setattr(module, "decoders", lambda: [*presets.TWINS])


@pytest.mark.parametrize(
    ("lang", "text", "word", "chance"),
    [("en", "The capital of France is", "␣Paris", 0.77), ("zh", "一个大人，一个小人，一个大", "人", 0.85)],
)
def test_opening_asks_small_decoder(open_app, lang, text, word, chance):
    """Without a choice the small decoder continues a sentence in the page's language; no box is on the page."""
    packaged_file(SMALL_DECODER)
    app = open_app("next_word", lang=lang)
    assert not app.info and not app.warning and not app.error
    assert app.text_area(key="text").value == text
    assert app.session_state["model"] == SMALL_DECODER
    assert link_of(app) == ({"lang": "zh"} if lang == "zh" else {})
    plotted = bar_charts(app)["next_best"]
    assert len(plotted.header["labels"]) == 5
    assert word in plotted.header["labels"][0]
    assert float(next(iter(plotted.series.values()))[0]) == pytest.approx(chance, abs=0.005)


def test_silent_model_has_decoder_read(open_app, twins_only):
    """A model that was chosen and says nothing is named in a sentence, and one click chooses the decoder."""
    app = open_app("next_word", model=compute.DEFAULT_MODEL)
    sentences = T("next_word.silent_model", model=compute.DEFAULT_MODEL)
    assert any(element.value.startswith(sentences) for element in app.caption) and not app.info
    app.button(key="take_twin-g8").click().run()
    assert not app.exception
    assert link_of(app) == {"model": "twin-g8"}
    assert T("next_word.twin", model="twin-g8", n=len(known_words())) in [element.value for element in app.caption]


def test_other_decoder_is_two_clicks_away(open_app, twins_only):
    """Also after the section was changed: a button in the chip of the model."""
    app = open_app("next_word", section="logit_lens")
    app.button(key="open_twin-g2").click().run()
    assert app.session_state["model"] == "twin-g2" and app.session_state["section"] == "logit_lens"
    assert app.text_area(key="text").value == COPY.text


def test_example_reads_text_of_box(open_app):
    """Seeded heads say nothing: a twin reads their words."""
    packaged_file(SMALL_DECODER)
    app = open_app("next_word", source="words", text="the dog saw a cat")
    assert app.selectbox(key="next_at").options == ["0 · the", "1 · dog", "2 · saw", "3 · a", "4 · cat"]


@pytest.mark.parametrize("model", ["", "multilingual-e5-small"])
def test_default_sentence_restored_on_other_pages(open_app, twins_only, model):
    """So is the model that it was opened with, which says nothing; Masks names the mask that it opens on."""
    if model:
        packaged_file(model)
    text = next(element.text for element in examples() if element.lang == "zh" and model in ("", element.model))
    selection = {"model": model} if model else {}
    app = open_app("heads", lang="zh", text=text, **selection)
    app.switch_page(file_of("next_word")).run()
    assert app.text_area(key="text").value == presets.opening(SMALL_DECODER, "en").text and link_of(app) == {
        "lang": "zh"
    }
    app.switch_page(file_of("masks")).run()
    assert app.text_area(key="text").value == text
    assert link_of(app) == {"lang": "zh", "text": text} | selection


def test_typed_text_kept_for_decoder(open_app, twins_only):
    app = open_app("next_word", text="the dog saw the cat")
    app.button(key="open_twin-g2").click().run()
    assert link_of(app) == {"model": "twin-g2", "text": "the dog saw the cat"}


def test_no_decoder_shows_sentence_only(open_app, monkeypatch):
    monkeypatch.setattr(limits, "MODELS", (compute.DEFAULT_MODEL,))
    available_models._on_this_machine.cache_clear()
    app = open_app("next_word", section="all")
    assert not app.exception and not app.error
    assert T("next_word.silent_model", model=compute.DEFAULT_MODEL) in [element.value for element in app.caption]
    assert not [element for element in app.button if (element.key or "").startswith("take_")]


@pytest.mark.parametrize("family", ["gpt2", "llama", "gemma2", "opt"])
def test_command_line_folder(open_app, monkeypatch, tmp_path, family):
    """Biases and a layer norm (GPT-2, OPT), shared keys and values (Llama), norms behind parts and a cap (Gemma 2)."""
    entry = make_entry(family, tmp_path / family)
    monkeypatch.setattr(specs, "local_entries", lambda: (entry,))
    monkeypatch.setattr(compute, "local_entries", lambda: (entry,))
    available_models._on_this_machine.cache_clear()
    text, second = "Paris is old and Paris is big.", "Paris is big and Paris is old."
    result = {}
    for section in SECTIONS:
        app = open_app("next_word", section=section, model=entry.id, text=text, swap_with=second, written=8, cut="0-2")
        assert not app.exception
        result[section] = checked(app, section)
        if section in ("attribution", "swap"):
            capped = T("next_word.capped", cap="30") in [caption.value for caption in app.caption]
            assert capped == (family == "gemma2")
    available_models._on_this_machine.cache_clear()
    assert all(n_passed == n > 0 for n_passed, n in result.values()), result


# --- Presets ---------------------------------------------------------------------------------------------------------


def test_twin_presets_equal_length_and_vocabulary():
    tokenizer = compute.model(TWIN).tokenizer
    assert len({preset.code for preset in presets.presets()}) == len(presets.presets())
    for preset in presets.presets():
        assert set(preset.why) == {"en", "zh"}
        assert preset.text != preset.swap_with and preset.follow != preset.against
        if preset.twins:
            assert {*preset.text.split(), *preset.swap_with.split(), preset.follow, preset.against} <= set(
                known_words()
            )
            lengths = {len(tokenizer.encode(text)) for text in (preset.text, preset.swap_with)}
            assert len(lengths) == 1 and lengths.pop() <= limits.SWAPPED_TOKENS


def test_packaged_model_presets_equal_length():
    tokenizer = load_packaged("SmolLM2-135M-Instruct").tokenizer
    for preset in presets.presets_for("SmolLM2-135M-Instruct").values():
        lengths = {len(tokenizer.encode(text)) for text in (preset.text, preset.swap_with)}
        assert len(lengths) == 1 and lengths.pop() <= limits.SWAPPED_TOKENS, preset.code
        assert all(len(tokenizer.encode(word.replace("␣", " "))) == 1 for word in (preset.follow, preset.against))


def test_preset_sets_its_words(open_app):
    app = open_app("next_word", model=TWIN, text="the dog saw the cat", next_at=1, follow="fish")
    app.selectbox(key="_next_preset").set_value("bird").run()
    assert not app.exception
    assert link_of(app) == {"model": TWIN, "text": BIRD.text}
    assert (app.session_state["follow"], app.session_state["against"]) == ("bird", "fish")
    assert any(element.value.endswith(BIRD.why["en"]) for element in app.caption)
    assert app.selectbox(key="_next_preset").value is None


# --- Next word -------------------------------------------------------------------------------------------------------


def test_typed_word_escaped_and_limited(open_app):
    app = open_app("next_word", model=TWIN, text=COPY.text, follow="<b>$x$</b>", against="w" * 41)
    assert not app.exception
    assert any("against" in element.value for element in app.info)
    assert "<b>" not in " ".join(
        [*(element.value for element in app.markdown), *(element.value for element in app.caption)]
    )


def test_long_text_truncated_with_note(open_app):
    app = open_app("next_word", section="all", model=TWIN, text="dog cat " * 60)
    assert not app.exception
    assert T("next_word.first", n=limits.NEXT_TOKENS) in [element.value for element in app.caption]
    assert T("next_word.swap_long", n=120, most=limits.SWAPPED_TOKENS) in [element.value for element in app.info]


# --- It writes on ----------------------------------------------------------------------------------------------------


def test_new_text_takes_two_passes(open_app, twins_only, monkeypatch):
    """One for everything that is shown, one for the checks; and the checked row of attention has one layer run."""
    app, runs = open_app("next_word", model=TWIN), []
    decoder = compute.model(TWIN).model.base_model
    layer = type(decoder.layers[0])
    run = layer.forward
    monkeypatch.setattr(layer, "forward", lambda *arguments, **options: (runs.append(1), run(*arguments, **options))[1])
    app.text_area[0].set_value("the bird saw a cat and the bird saw a").run()
    passing, n = checked(app, "next_word")
    assert passing == n > 0 and 2 * len(decoder.layers) <= len(runs) < 3 * len(decoder.layers)


def test_continuation_runs_in_chunks(open_app, monkeypatch):
    requests = []
    right = own_compute.continue_text
    monkeypatch.setattr(
        own_compute, "continue_text", lambda *a, steps, **o: requests.append(steps) or right(*a, steps=steps, **o)
    )
    forget_all()
    app = open_app("next_word", model=TWIN, text=COPY.text)
    assert not requests
    app.button(key="write_on").click().run()
    assert not app.exception
    assert requests == [limits.WRITTEN_AT_ONCE] * (limits.CONTINUED_TOKENS // limits.WRITTEN_AT_ONCE)
    assert link_of(app)["written"] == str(limits.CONTINUED_TOKENS)
    assert any(line.startswith(COPY.text + " ▸ door cake moon dog") for line in texts(app))
    assert checked(app, "next_word") == (8, 8)
    app.button(key="write_again").click().run()
    assert "written" not in link_of(app)
    assert len(requests) == 6, "kept"


def test_stopped_it_keeps_what_was_written(open_app):
    app = open_app("next_word", model=TWIN, text=COPY.text, written=16)
    app.session_state["written"] = 48  # under way, and 16 are done when the user clicks
    app.session_state[writing.N_TOKENS_DONE.name] = 16
    app.button(key="stop_writing").click().run()
    assert link_of(app)["written"] == "16"


def test_sampling_seed_reproduces_text(open_app):
    """With seeded heads their chip has the one control of the seed."""
    for link in ({"model": TWIN}, {"source": "words"}):
        lines = set()
        for seed in (0, 1, 0):
            app = open_app("next_word", text="the dog saw", heat=130, seed=seed, written=8, **link)
            assert not app.exception and [box.key for box in app.number_input].count("seed") == 1
            lines.add(next(line for line in texts(app) if "▸" in line))
        assert len(lines) == 2


# --- Layer by layer --------------------------------------------------------------------------------------------------


# --- Which head wrote it ---------------------------------------------------------------------------------------------


def test_example_part_opens_with_its_model(open_app):
    packaged_file(SMALL_DECODER)
    app = open_app("next_word", section="attribution", source="words", text=COPY.text)
    app.button(key="open_heads").click().run()
    assert (app.session_state["model"], app.session_state["text"]) == ("twin-g8", COPY.text)


# --- Switch off ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("G", GROUPS)
def test_twin_without_previous_heads_stops_copying(open_app, G):
    """Found: 0.28, 0.59 and 0.89 bits for a word that can be known; 7.1, 4.1 and 8.3 without these heads."""
    app = open_app("next_word", section="switch_off", model=twin_id(G), text=COPY.text)
    assert checked(app, "switch_off") == (7, 7)
    numbers, inputs = app.session_state["cut"], source(twin_id(G))
    assert numbers and all(number < 8 for number in numbers), "all of layer 0"
    heads = frozenset(divmod(number, 8) for number in numbers)
    rows = switch_off.is_predictable(own_compute.tokens_of(inputs).ids)
    assert rows.sum() == 14
    for mean in (False, True):
        change = own_compute.changes_without(inputs, heads, mean, 30)
        assert change.surprise_before[rows].mean() < 1.0
        assert change.surprise_after[rows].mean() > 3.0
    app.button(key="cut_induction").click().run()
    assert checked(app, "switch_off") == (7, 7)
    assert app.session_state["cut"] == list(range(8, 16)), "in a twin every head of layer 1 copies"
    change = own_compute.changes_without(inputs, frozenset((1, head) for head in range(8)), False, 30)
    assert change.surprise_after[rows].mean() > 7.5, "no better than guessing among 257 words: 8 bits"
    app.button(key="cut_none").click().run()
    assert link_of(app)["cut"] == ""
    assert T("next_word.cut_empty") in texts(app)
    assert checked(app, "switch_off") == (5, 5)


def test_the_most_changed_word_comes_first():
    change = own_compute.changes_without(source(), frozenset({(1, 2), (1, 3)}), False, 30)
    ids = own_compute.tokens_of(source()).ids
    edits = without(own_compute.stream(source()), {(1, 2), (1, 3)}, mean=False)
    before, after = (logits_of(compute.model(TWIN), ids, edit)[30].softmax(-1) for edit in (None, edits))
    difference = (after - before).abs()
    assert change.words.tolist() == difference.argsort(descending=True)[: own_compute.N_CHANGES].tolist()
    torch.testing.assert_close(change.after - change.before, (after - before)[change.words])


def test_the_known_tokens_by_hand():
    assert switch_off.is_predictable((5, 7, 5, 7, 9)).tolist() == [False, False, True, True]


# --- Swap ------------------------------------------------------------------------------------------------------------


def test_swap_layers_cached_and_resumable(open_app, monkeypatch):
    requests = []
    right = own_compute.patch_layer
    monkeypatch.setattr(own_compute, "patch_layer", lambda *a: requests.append(a[3]) or right(*a))
    forget_all()
    app = open_app("next_word", section="swap", model=TWIN, text=COPY.text)
    assert requests == [1, 0], "the last layer first: it costs least"
    app.run()
    assert requests == [1, 0], "kept for all who ask for the same"
    key = (source(), source(text=COPY.swap_with), 30)
    forget_all()
    app.session_state["_swap_stopped"] = (key, 1)  # the user stopped it after one layer
    app.run()
    assert requests == [1, 0, 1]
    assert T("next_word.swap_stopped", done=1, n=2) in [element.value for element in app.caption]
    assert any(element.value.startswith("Of 1 layer, layer 1, head") for element in app.text)
    assert checked(app, "swap") == (5, 5)
    app.button(key="swap_go_on").click().run()
    assert requests == [1, 0, 1, 0]
    assert T("next_word.swap_stopped", done=1, n=2) not in [element.value for element in app.caption]


@pytest.mark.parametrize(
    ("other_text", "sentence_values"),
    [
        ("dog cat bird", {"n": 31, "m": 3, "key": "swap_lengths"}),
        ("  ", {"n": 31, "m": 0, "key": "swap_lengths"}),
    ],
)
def test_unswappable_texts_explained(open_app, other_text, sentence_values):
    app = open_app("next_word", section="swap", model=TWIN, text=COPY.text, swap_with=other_text)
    assert not app.exception and not app.error
    values = {name: value for name, value in sentence_values.items() if name != "key"}
    assert T(f"next_word.{sentence_values['key']}", **values) in [element.value for element in app.info]


def test_swapping_later_words_changes_nothing(open_app):
    """Before the first word that differs no head can matter, and none is said to."""
    link = {"text": "dog cat dog cat", "swap_with": "dog cat dog bird", "next_at": 2}
    app = open_app("next_word", section="swap", model=TWIN, **link)
    assert T("next_word.swap_later", at=2) in [element.value for element in app.info]
    assert not app.exception and not any("moves it most" in element.value for element in app.text)
