"""The frame, run without a browser: every page, both languages, all three sources; links; bad input; bad models."""

import gc
import json
import re
from collections.abc import Iterator
from itertools import cycle
from typing import Any
from weakref import ref

import pytest
from streamlit.runtime.state.session_state import SessionState
from streamlit.testing.v1 import AppTest

from pages import PAGES
from pages.step_by_step.stepper import WITHOUT_TEXT
from tests.frame.connection.test_fragments import tensors_of
from tests.running import OpenApp, all_elements, checked, line_charts, link_of, matrices, sentences_of, wrong_defaults
from tests.sections import SECTIONS, link_to, page_named, section_views, views_of
from tests.shown.digests import Digest, digests_of, missing
from viz import limits
from viz.errors import ModelError
from viz.frame import compute
from viz.frame.scene import Scene
from viz.frame.sidebar import file_of
from viz.text import LANGUAGES, Translate, sentences, translator


@pytest.fixture(autouse=True)
def no_exception(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every run of the app in this file ends without an exception, and the browser can start each widget anew."""
    run = AppTest.run

    def checked(self: AppTest, **options: Any) -> AppTest:
        after = run(self, **options)
        assert not after.exception, [exception.message for exception in after.exception]
        assert wrong_defaults(after) == {}
        return after

    monkeypatch.setattr(AppTest, "run", checked)
    yield


def state(app: AppTest, *names: str) -> dict[str, Any]:
    return {name: app.session_state[name] for name in names}


def note_scenes(monkeypatch: pytest.MonkeyPatch) -> list[ref[Scene]]:
    """Note every scene that is made, also of another."""
    scenes: list[ref[Scene]] = []
    make = Scene.__init__

    def note(scene: Scene, **fields: Any) -> None:
        make(scene, **fields)
        scenes.append(ref(scene))

    monkeypatch.setattr(Scene, "__init__", note)
    return scenes


def has_results(scene: ref[Scene]) -> bool:
    """Return True if a scene still has its tensors; a section's fragment keeps one without."""
    there = scene()
    return there is not None and not {"capture", "trace"}.isdisjoint(vars(there))


def keep_widgets(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Keep what a user's session keeps of every widget: its callbacks, and how its options are written."""
    widgets: list[Any] = []
    note = SessionState._set_widget_metadata

    def keep(session: SessionState, widget: Any) -> None:
        widgets.append(widget)
        note(session, widget)

    monkeypatch.setattr(SessionState, "_set_widget_metadata", keep)
    return widgets


def assert_marked_once(app: AppTest) -> None:
    """No term is marked twice on one screen, and each that is marked has its pop-over."""
    bodies = "".join(element.proto.body for element in app.get("html"))
    terms, notes = (re.findall(f'{name}="term_(\\w+)"', bodies) for name in ("popovertarget", "id"))
    assert terms == notes
    assert len(set(terms)) == len(terms)


def section_with_text(page: str) -> str:
    """Return the first section of a page that reads a text."""
    return next(section.name for section in page_named(page).sections if section.reads_text is True)


def link_without_section(app: AppTest) -> dict[str, str]:
    return {name: value for name, value in link_of(app).items() if name != "section"}


OWN_SIZES = ("cost",)
"""Pages whose sizes are the user's: they say nothing of where numbers come from."""


TEXTS = {"text": "giraffe giraffe elephant", "target": "a giraffe", "swap_with": "giraffe elephant giraffe", "step": 0}
"""Words that no text of the program has, and a step that shows all."""
CHOICES: dict[str, dict[str, Any]] = {
    "words": TEXTS | {"source": "words", "d_model": 24, "n_heads": 4, "n_kv_heads": 2, "seed": 3, "head": 2,
                      "mask": "window", "width": 2},
    "embeddings": TEXTS | {"source": "embeddings", "n_kv_heads": 2, "seed": 5, "mask": "causal", "off": "1",
                           "lang": "zh"},
    "model": {"source": "model", "model": "twin-g2", "text": "red blue green red blue", "layer": 1, "head": 3,
              "mask": "causal", "lang": "zh", "off": "1"},
}  # fmt: skip
"""Choices that a user may have made on other pages, hardly one of them a default."""


@pytest.mark.parametrize("choices", CHOICES.values(), ids=CHOICES)
@pytest.mark.parametrize(("page", "view"), [(page, view) for page in PAGES for view in views_of(page)])
def test_view_draws_from_every_source(open_app, monkeypatch, page, view, choices):
    """It draws, its checks hold, texts are literal, nothing outlives it; its link alone opens the same."""
    with monkeypatch.context() as patch:
        scenes, widgets = note_scenes(patch), keep_widgets(patch)
        app = open_app(page, **link_to(page, view), **choices)
    problems = list(problems_of(app, page, view, choices))
    if not scenes and app.session_state["section"] not in WITHOUT_TEXT:
        problems.append("the test sees no scene, and the section has no numbers of its own")
    # What holds itself alone goes now; to look for it takes longer than the page.
    if any(map(has_results, scenes)):
        gc.collect()
    if not widgets or any(map(has_results, scenes)):
        problems.append("some callback or label keeps its tensors as long as the visitor stays")
    if tensors := tensors_of(app._fragment_storage._fragments, set()):
        problems.append(f"a fragment holds tensors of {[tuple(tensor.shape) for tensor in tensors]}")
    problems += other_by_link(open_app, page, app)
    assert not problems, "\n".join(problems)


def problems_of(app: AppTest, page: str, view: str, choices: dict[str, Any]) -> Iterator[str]:
    """Yield a sentence for everything that is wrong on a page with one view."""
    t, section = translator(choices.get("lang", "en")), link_to(page, view)["section"]
    if app.title[0].value != t(f"{page}.title"):
        yield "another title"
    if app.session_state["section"] != section:
        yield "another section"
    if t(f"{page}.{view}.lead") not in sentences_of(app):
        yield "no lead"
    yield from (error.value for error in app.error)
    yield from not_literal(app)
    assert_marked_once(app)
    passing, n = checked(app, view)
    if passing != n:
        yield f"{passing} of {n} checks hold"
    yield from (f"{name} is drawn, too" for name in views_of(page) if name != view and checked(app, name)[1])
    has_word = page in OWN_SIZES or view != section_with_text(page)
    if not has_word and not says_whence(app, t, page, choices["source"]):
        yield "nothing says where the numbers come from"


def other_by_link(open_app: OpenApp, page: str, app: AppTest) -> Iterator[str]:
    """Yield what a new session that has the link alone shows otherwise."""
    fresh = open_app(page, **link_of(app))
    before, after = digests_of(app), digests_of(fresh)
    if missing(before, after) or missing(after, before):
        yield f"other numbers by the link {link_of(app)}"
    if sentences_of(app) != sentences_of(fresh):
        yield f"other sentences by the link {link_of(app)}"


def says_whence(app: AppTest, t: Translate, page: str, source: str) -> bool:
    """Return True if a caption names the source of the page's numbers."""
    keys = {f"source.{source}_line", f"{page}.{source}_line", f"{page}.heads_{source}"} & set(sentences("en"))
    phrases = {max(re.split(r"\{[^}]*\}", t(key)), key=len) for key in keys}
    return any(phrase in caption.value for phrase in phrases for caption in app.caption)


@pytest.mark.fast("heads", "masks", "cost")
@pytest.mark.parametrize("page", PAGES)
def test_page_of_all_sections(open_app, page):
    """The page of all sections has them one below the other."""
    app, t = open_app(page, section="all"), translator("en")
    names = [section for owner, section in SECTIONS if owner == page]
    titles = [t(f"{page}.{name}.title") for name in names] * (len(names) > 1)
    assert [header.value for header in app.header if header.value in titles] == titles
    assert_marked_once(app)
    assert link_of(app) == {"section": "all"}


EDGES = {
    "one word": {"source": "words", "text": "word", "target": "word", "n_heads": 1},
    "one word of a model": {"text": "word", "target": "word"},
    "long": {"text": "word other " * 100, "mask": "both", "pad": 5, "pad_left": 1},
    "all padding": {"text": "word other " * 100, "source": "words", "mask": "padding", "pad": 32},
    "blind": {"text": "one two three four", "source": "words", "mask": "painted", "painted": "32." + "A" * 171},
    "shared": {"model": "twin-g2", "text": "the cat the", "mask": "window", "width": 1, "lang": "zh"},
}
"""Texts and masks that leave little to show."""
OFF = {
    "block": {"block": "both", "residual": 0, "normalize": 0},
    "positions": {
        "base": 500,
        "pe_width": 128,
        "pe_n": 512,
        "order": "reversed",
        "today_share": 0,
        "nope_floor": 65536,
    },
    "step_by_step": {"step": 7, "no_scale": 1, "no_mask": 1, "wrong_axis": 1},
    "stacking": {"depth": 12, "field": "dilated", "sets": 5},
    "cost": {"cost_n": 10**12, "cost_d": 997, "cost_k": 15, "cost_h": 997, "cost_how": "exact", "cost_fixed": 1},
    "share_kv": {"n_kv_heads": 1, "mla_form": "absorbed", "reading_layer": 2},
    "masks": {"near_size": 1, "stack": 1, "keep": 6, "mask_late": 1},
    "attention_today": {
        **{"nobody": "off", "tamed": "off", "gated": "off", "subtracted": 0, "state": "off", "near_size": 1, "keep": 0}
    },
    "convolution": {"kernel": "sobel", "channel": 5},
}
"""Settings of pages at an end of their range."""


@pytest.mark.parametrize("edge", EDGES)
@pytest.mark.parametrize("page", PAGES)
@pytest.mark.usefixtures("without_source_checks")
def test_checks_hold_at_edges(open_app, page, edge):
    """On a page with all of its sections; what would leave a check nothing to compare is no check."""
    app = open_app(page, section="all", **OFF.get(page, {}) | EDGES[edge])
    counts = {view: checked(app, view) for view in views_of(page)}
    assert {view: passing for view, (passing, n) in counts.items() if passing != n} == {}
    assert translator("en")("truth.failed") not in [error.value for error in app.error]


@pytest.mark.parametrize("page", ["heads", "cost"])
def test_unknown_section_opens_first(open_app, page):
    """An unknown section opens the first one and a note says so."""
    app = open_app(page, section="nowhere")
    assert app.session_state["section"] == next(name for owner, name in SECTIONS if owner == page)
    assert translator("en")("note.refused", names="section") in [info.value for info in app.info]


def test_a_section_belongs_to_its_page(open_app):
    app = open_app("masks", section="decoding")
    app.switch_page(file_of("heads")).run()
    assert app.session_state["section"] == "all_heads"
    assert link_of(app) == {}


def test_embedded_page_has_picture_and_link(open_app):
    """An embedded page has the picture and one link out."""
    app = open_app("step_by_step", step=4, text="a & b", source="words", section="steps")
    assert app.title
    assert any(group.key == "lang" for group in app.button_group)
    app.context["is_embedded"] = True
    app.run()
    assert app.session_state["step"] == 4
    assert not app.title
    assert not app.sidebar.children
    (way_out,) = app.get("link_button")
    assert way_out.proto.url.endswith("?section=steps&source=words&text=a+%26+b&step=4")
    assert way_out.proto.label == translator("en")("page.open_here")


@pytest.mark.parametrize(
    ("locale", "lang"), [("zh-CN", "zh"), ("zh-TW", "zh"), ("en-GB", "en"), ("fr-FR", "en"), (None, "en")]
)
def test_language_defaults_to_browsers(open_app, locale, lang):
    app = open_app(locale=locale)
    assert app.title[0].value == translator(lang)("heads.title")


def test_a_links_language_beats_the_browsers(open_app):
    assert open_app(locale="zh-CN", lang="en").title[0].value == translator("en")("heads.title")


@pytest.mark.parametrize("page", ["heads", "masks"])
@pytest.mark.parametrize(
    "expected",
    [
        {"source": "words", "text": "one two three four five", "d_model": 24, "n_heads": 6, "n_kv_heads": 2, "seed": 77,
         "mask": "window", "width": 5, "lang": "zh"},
        {"source": "model", "text": "Ünïcödé & friends? #1 +2 100%", "layer": 5, "mask": "causal"},
        {"source": "embeddings", "n_heads": 3, "n_kv_heads": 1, "seed": 9999, "mask": "prefix", "width": 0},
    ],
)  # fmt: skip
def test_link_restores_state_and_is_rewritten(open_app, page, expected):
    """A link restores the state and is written back."""
    app = open_app(page, section=section_with_text(page), **expected)
    assert state(app, *expected) == expected
    note = translator(expected.get("lang", "en"))("note.refused").partition("{")[0]
    assert not any(box.value.startswith(note) for box in app.info)
    defaults = {"source": "model", "lang": "en", "mask": "causal" if page == "masks" else "own"}
    assert link_without_section(app) == {
        name: str(value) for name, value in expected.items() if defaults.get(name) != value
    }


@pytest.mark.parametrize(
    ("mask", "blocks"),
    [
        ({"mask": "causal"}, True),
        ({"mask": "causal", "model": "twin-g2", "text": "the cat saw"}, False),
        ({"mask": "padding", "pad": 0}, False),
        ({"mask": "window", "width": 32}, False),
        ({"mask": "window", "width": 1, "source": "words"}, True),
    ],
)
def test_added_mask_sentence_needs_blocked_cell(open_app, mask, blocks):
    """A mask is described as added only where it blocks a cell."""
    t, app = translator("en"), open_app(**mask)
    captions = [line.value for line in app.caption]
    name = t(f"mask.{mask['mask']}")
    note = t(f"note.mask_{'seeded' if 'source' in mask else 'model'}", mask=name)
    assert (note in captions) is blocks
    assert any(t("source.model_own") in line for line in captions) is ("source" not in mask and not blocks)
    for page, note in (("block", "block.masked"), ("stacking", "stacking.masked")):
        captions = [line.value for line in open_app(page, **mask).caption]
        assert (t(note, mask=name) in captions) is blocks


@pytest.mark.parametrize(
    ("path", "name", "value"),
    [("positions", "layer", 5), ("stacking", "layer", 5), ("cost", "layer", 5), ("cost", "mask", "causal")],
)
def test_page_hides_controls_without_effect(open_app, path, name, value):
    """A page has no control without an effect there, and keeps its value."""
    app = open_app(path, section=section_with_text(path), **{name: value})
    assert all(control.key != name for control in (*app.slider, *app.selectbox))
    assert link_without_section(app) == {name: str(value)}
    app.switch_page(file_of("heads")).run()
    assert next(control_ for control_ in (*app.slider, *app.selectbox) if control_.key == name).value == value


WITHOUT_MASK = [
    (name, section.name)
    for name in PAGES
    for section in page_named(name).sections
    if page_named(name).controls.mask and not section.reads_mask
]


@pytest.mark.parametrize(("page", "section"), WITHOUT_MASK)
def test_mask_without_effect_is_hidden(open_app, page, section):
    """A mask that would change nothing is not offered and stays selected."""
    bare, masked = (
        open_app(page, section=section, source="words", text="a b c", **more) for more in ({}, {"mask": "causal"})
    )
    assert all(control.key != "mask" for control in masked.selectbox)
    assert link_of(masked)["mask"] == "causal"
    assert missing(digests_of(masked), digests_of(bare)) == missing(digests_of(bare), digests_of(masked)) == []


FEWER = {"translation": ((1, 0), (0, 0), (0, 3))}
"""Layers and heads of sections that open on a small model."""
READ_BY = {"steps": {"step": 4}, "joined": {"after": "concat"}}
"""Link parameters with which the head matters in some sections."""


def what_it_shows(app: AppTest) -> tuple[list[Digest], list[Any]]:
    """Its numbers, and what is said of them or marks some of them; of a table that is its first column."""
    sentences = [sentence for sentence in sentences_of(app) if not sentence.startswith("|")]
    marks = [json.loads(chart.proto.spec)["layout"].get("shapes") for chart in app.get("plotly_chart")]
    marks += [header for header, _ in matrices(app).values()]
    marks += [chart["marks"] for chart in line_charts(app).values()]
    marks += re.findall("<tr><th[^>]* aria-current>", "".join(html.proto.body for html in app.get("html")))
    return digests_of(app), [*sentences, *marks, *(table.value.iloc[:, 0].tolist() for table in app.dataframe)]


@pytest.mark.fast("masks-editor", "masks-layers", "heads-all_heads")
@pytest.mark.parametrize(
    ("page", "view"),
    [(page, view) for page in PAGES for section in page_named(page).sections for view in section_views(section)],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_chips_appear_where_they_matter(open_app, page, view):
    """The chips of layer and head appear only where they change the picture, in each view of a section too."""
    places = FEWER.get(view.name, ((0, 0), (5, 0), (5, 7)))
    options = link_to(page, view.name) | READ_BY.get(view.name, {})
    apps = [open_app(page, layer=layer, head=head, place_head=head, **options) for layer, head in places]
    sliders = {control.key for control in apps[0].slider}
    views = list(map(what_it_shows, apps))
    for chips, (numbers, words), (after, words_after) in zip(
        ({"layer"}, {"head", "place_head"}), views[:2], views[1:], strict=True
    ):
        changes = bool(missing(numbers, after) + missing(after, numbers)) or words != words_after
        assert bool(sliders & chips) is changes, chips
    if page_named(page).controls.layer and (view.reads_text or view.reads_model):
        assert link_of(apps[2])["layer"] == str(places[2][0]), "what is not asked for stays chosen"


@pytest.mark.parametrize(
    ("hostile", "names", "falls_back_to"),
    [
        ({"layer": "99"}, {"layer"}, {"layer": 3}),
        ({"layer": "abc"}, {"layer"}, {"layer": 3}),
        ({"layer": "9" * 10_000}, {"layer"}, {"layer": 3}),
        ({"source": "evil"}, {"source"}, {"source": "model"}),
        ({"model": "../../etc/passwd"}, {"model"}, {"model": compute.DEFAULT_MODEL}),
        ({"model": "evil/model"}, {"model"}, {"model": compute.DEFAULT_MODEL}),
        ({"lang": "fr"}, {"lang"}, {"lang": "en"}),
        ({"mask": "<b>"}, {"mask"}, {"mask": "own"}),
        ({"mask": "window", "width": "1e9"}, {"width"}, {"mask": "window", "width": 2}),
        ({"source": "words", "n_heads": "7"}, {"n_heads"}, {"n_heads": 4}),
        ({"source": "words", "n_heads": "4", "n_kv_heads": "3"}, {"n_kv_heads"}, {"n_kv_heads": 4}),
        ({"source": "words", "d_model": "inf"}, {"d_model"}, {"d_model": 16}),
        ({"source": "words", "d_model": "7"}, {"d_model"}, {"d_model": 16}),
        ({"source": "words", "seed": "-1"}, {"seed"}, {"seed": 0}),
        ({"source": "evil", "layer": "99", "lang": "fr", "unknown": "1"}, {"source", "layer", "lang"}, {"layer": 3}),
    ],
)  # fmt: skip
def test_hostile_link_falls_back_with_note(open_app, hostile, names, falls_back_to):
    """A hostile or outdated link falls back to defaults with a note."""
    app = open_app(**hostile)
    assert state(app, *falls_back_to) == falls_back_to
    note = translator("en")("note.refused", names=", ".join(sorted(names)))
    assert note in [info.value for info in app.info]
    assert not set(link_of(app)) & (names | {"unknown"}), "what was refused leaves the address bar"
    app.run()
    assert note not in [info.value for info in app.info], "told once"


BAD_TEXTS = {
    "one token": "word",
    "10,000 characters": "word " * 2_000,
    "one word of 10,000 characters": "w" * 10_000,
    "markup": "<b>bold</b> <img src=x onerror=alert(1)> &amp; ![x](http://example.com/a.png) [a](javascript:x) **b** "
    "`c` :red[x] :material/home: :smile: $x^2$ $$\\frac12$$ #000001 #000040 {n} {0} %s !!! ...",
    "scripts": "👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽 مرحبا بالعالم \u202eabc\u202c "
    "Z̸̢̛͍͖͈a̷l̶g̵o̴ e\u0301 \x00b\x07c\x1bd\r\n\te\u2028f\ufeffg\u200bh\ufffe\ufffd",
}
LONG_TEXTS = [kind for kind, text in BAD_TEXTS.items() if len(text) == 10_000]


@pytest.mark.fast("heads", "masks", "two_sequences", "positions")
@pytest.mark.parametrize("page", PAGES)
def test_bad_texts_are_shown_and_kept(open_app, page):
    """One after the other on one page, as somebody would who tries; a model and the seeded words read them in turn.

    A page reads one of the long texts: they are cut before it sees them.
    """
    app = open_app(page, section="all")
    texts = [kind for kind in BAD_TEXTS if kind != LONG_TEXTS[PAGES.index(page) % 2]]
    for kind, source in zip(texts, cycle(["model", "words"])):
        text = BAD_TEXTS[kind]
        app.radio(key="source").set_value(source)
        app.text_area(key="text").set_value(text).run()
        assert app.text_area(key="text").value == text, kind
        assert app.session_state["source"] == source
        assert not app.error, kind
        beyond = len(text) - limits.CHARACTERS
        note = translator("en")("note.dropped_characters", n=beyond)
        assert (note in [warning.value for warning in app.warning]) == (beyond > 0), kind
        assert not [leaf for leaf in plotly_texts(app) if leaf in set("<>&#$")], (
            f"{kind}: a token in a figure is escaped"
        )


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_text_without_word_is_explained(open_app, page, lang):
    """A text without a word is explained in a sentence and stays as typed."""
    app = open_app(page, lang=lang, source="model", section=section_with_text(page))
    for source, text in (("model", ""), ("embeddings", "  \n\t "), ("words", " ")):
        app.radio(key="source").set_value(source)
        app.text_area(key="text").set_value(text).run()
        assert [error.value for error in app.error] == [translator(lang)("error.empty")]
        assert app.text_area(key="text").value == text
    app.text_area(key="text").set_value("word").run()
    assert not app.error


# What shows a user's text as it is, tried in Chromium. Labels and help never do, nor do the options of radios,
# pills, segmented controls and select sliders, the cells of st.table, the values of st.metric.
LITERAL = {"TextArea", "TextInput", "Text", "Code", "Json", "Selectbox", "MultiSelect", "Dataframe"} | {
    "PlotlyChart", "BidiComponent",  # by our own hand: palette.plain, canvas text and textContent
}  # fmt: skip


def strings(message: Any) -> Iterator[tuple[str, str | bytes]]:
    """Every string in a protocol buffer, with its field's name."""
    for field, value in message.ListFields():
        for item in value if field.is_repeated else [value]:
            if isinstance(item, str | bytes):
                yield field.name, item
            elif hasattr(item, "ListFields"):
                yield from strings(item)


def plotly_texts(app: AppTest) -> Iterator[str]:
    def leaves(tree: Any) -> Iterator[str]:
        if isinstance(tree, str):
            yield tree
        elif isinstance(tree, dict | list):
            for branch in tree.values() if isinstance(tree, dict) else tree:
                yield from leaves(branch)

    for chart in app.get("plotly_chart"):
        yield from leaves(json.loads(chart.proto.spec))


def not_literal(app: AppTest) -> Iterator[str]:
    """Yield where a word of the user's text would be read as Markdown."""
    for element in all_elements(app):
        proto = getattr(element, "proto", None)
        kind = type(proto).__name__
        for field, value in strings(proto) if hasattr(proto, "ListFields") else ():
            has_word = b"giraffe" in (value if isinstance(value, bytes) else value.encode())
            if has_word and (kind not in LITERAL or field in ("label", "help")):
                yield f"{kind}.{field} is not literal: {value!r:.200}"


REFUSALS = [
    ModelError("sha", model="all-MiniLM-L6-v2", file="model.safetensors", found="0" * 8, expected="1" * 8),
    ModelError("missing", model="all-MiniLM-L6-v2", file="model.safetensors"),
    ModelError("pickle", model="all-MiniLM-L6-v2", file="pytorch_model.bin"),
    ModelError("corrupt", model="all-MiniLM-L6-v2", reason="header too large"),
    ModelError("offline", model="all-MiniLM-L6-v2"),
]


A_MODELS = ("next_word", "atlas")
"""Pages whose text a model reads whatever the source is."""


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_unusable_model_is_one_sentence(open_app, monkeypatch, page, lang):
    section = next(section.name for section in page_named(page).sections if section.reads_text is True)
    with monkeypatch.context() as patch:
        refusals = iter(REFUSALS)
        reported: list[ModelError] = []

        def fail(model_id: str) -> None:
            reported.append(next(refusals))
            raise reported[-1]

        patch.setattr(compute, "model", fail)
        app = open_app(page, lang=lang, section=section, text="giraffe")
        while True:
            sentence = translator(lang)(f"error.{reported[-1].code}", **reported[-1].values)
            assert [error.value.replace("\\", "") for error in app.error] == [sentence]
            assert app.text_area(key="text").value == "giraffe"
            if reported[-1] is REFUSALS[-1]:
                break
            app.run()
        if page not in A_MODELS:
            app.radio(key="source").set_value("words").run()
            assert not app.error, "the other source still works"
    app.radio(key="source").set_value("model").run()
    assert not app.error, "and the model, once it can be used again"
    assert app.text_area(key="text").value == "giraffe"
