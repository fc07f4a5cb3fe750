"""The search's index and results: run by node as the browser runs it."""

import gzip
import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from pages import EVERY, PAGES
from tests import SAFETY_NET
from tests.sections import SECTIONS, VIEWS, page_named
from viz.components import bundle
from viz.frame.search.index import index
from viz.frame.sidebar import path_of
from viz.lessons.lesson_file import lessons
from viz.text import LANGUAGES, translator
from viz.text.glossary import terms

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed; a browser test searches, too")
WORDS = tomllib.loads(Path(__file__).with_name("words.toml").read_text("utf8"))
LARGEST = 60_000
"""Bytes of the compressed index: a browser asks for it once, when somebody searches."""


@pytest.fixture(scope="module")
def entries():
    return index({name: page_named(name).sections if name in PAGES else () for name in EVERY})


@pytest.fixture(scope="module")
def find(entries, tmp_path_factory):
    """Return what the search finds for many queries: for each the codes of its entries, the best first."""
    folder = tmp_path_factory.mktemp("search")
    (folder / "ranking.mjs").write_text(bundle.join_modules(bundle.CLIENT / "search" / "ranking.js"), "utf8")
    (folder / "index.json").write_text(json.dumps(entries), "utf8")
    run = """
        const { Ranking } = await import("./ranking.mjs"), { readFileSync } = await import("node:fs");
        const { queries, most } = JSON.parse(readFileSync("asked.json"));
        const ranking = new Ranking(JSON.parse(readFileSync("index.json")));
        console.log(JSON.stringify(queries.map((query) => ranking.find(query, most).map(({ id }) => id))));
    """
    codes = [
        *terms(),
        *("/".join(place) for place in SECTIONS),
        *EVERY,
        *(f"lesson {lesson.name}" for lesson in lessons()),
    ]
    codes += [entry["to"] for entry in entries[len(codes) :]]

    def search(queries, most=2):
        (folder / "asked.json").write_text(json.dumps({"queries": list(queries), "most": most}), "utf8")
        command = [str(NODE), "--input-type=module", "--eval", run]
        process = subprocess.run(command, capture_output=True, text=True, cwd=folder, timeout=SAFETY_NET, check=False)
        assert process.returncode == 0, process.stderr
        return [[codes[number] for number in numbers] for numbers in json.loads(process.stdout)]

    return search


@needs_node
@pytest.mark.parametrize("kind", WORDS)
def test_search_word_is_found_first(find, kind):
    """Every word of the notes, every abbreviation and every mistyped one leads to its term first or second."""
    expected: dict[str, set[str]] = {}
    for code, words in WORDS[kind].items():
        for word in words:
            expected.setdefault(word, set()).add(code)
    results = dict(zip(expected, find(expected), strict=True))
    assert {word: results[word] for word, codes in expected.items() if not codes & set(results[word])} == {}


@needs_node
def test_search_finds_term_by_every_name(find):
    """Each name of a term, in either language, and whatever else it is called leads to it, among the first three."""
    names = {(code, name) for code, term in terms().items() for name in (*term.names.values(), *term.also)}
    searched = sorted({name for _, name in names})
    results = dict(zip(searched, find(searched, most=4), strict=True))
    shared = {name for name in searched if sum(name == name_ for _, name_ in names) > 1}
    assert [
        (code, name, results[name]) for code, name in names if code not in results[name] and name not in shared
    ] == []


@needs_node
@pytest.mark.parametrize("lang", LANGUAGES)
def test_search_finds_section_by_title(find, lang):
    """A section is found by its title, or one of the same name before it; so is a lesson."""
    t = translator(lang)
    titles = {f"{page}/{section}": t(f"{page}.{section}.title") for page, section in SECTIONS}
    titles |= {f"lesson {lesson.name}": lesson.title[lang] for lesson in lessons()}
    results = dict(zip(titles, find(titles.values(), most=6), strict=True))
    assert {code: (titles[code], results[code]) for code in titles if code not in results[code]} == {}


@needs_node
def test_search_strange_query_finds_nothing(find):
    """Signs, long texts and words that stand nowhere: an answer without an error."""
    queries = ["", "   ", "?!…", "<img src=x onerror=alert(1)>" * 400, "猫" * 10_000, "של", "\u202e\u0000", "xylophone"]
    assert find(queries)[-1] == [] and find(queries)[0] == []


def test_index_has_everything_once(entries):
    """An entry for each term, section, page and lesson, with a link that nothing else of its kind has."""
    kinds = {
        kind: [entry for entry in entries if entry["kind"] == kind] for kind in ("term", "section", "page", "lesson")
    }
    sizes = {kind: len(entries_) for kind, entries_ in kinds.items()}
    n_views = sizes.pop("section") - len(SECTIONS)
    assert sizes == {"term": len(terms()), "page": len(EVERY), "lesson": len(lessons())}
    sections = [f"{path_of(page)}?section={name}" for page, name in SECTIONS]
    assert [entry["to"] for entry in kinds["section"]][: len(sections)] == sections
    assert n_views == len(VIEWS) - len({(page, section) for page, section, _ in VIEWS})
    for kind in ("section", "page", "lesson"):
        assert len({entry["to"] for entry in kinds[kind]}) == len(kinds[kind])


def test_index_has_views_of_sections(entries):
    """A view of a section is found under its own title, and its link opens it."""
    title = translator("en")("positions.step.title")
    (entry,) = (entry for entry in entries if entry["en"][0] == title)
    assert (entry["kind"], entry["to"]) == ("section", "positions?section=sinusoids&pe_show=step")
    assert entry["zh"][0] == translator("zh")("positions.step.title")


@needs_node
def test_former_title_finds_new_place(find):
    """A section that was merged into another is found by the title that it had, in both languages."""
    former = {"Far away": "positions/encodings", "驯服得分": "attention_today/tamed"}
    assert [places[0] for places in find(former, most=1)] == list(former.values())


def test_index_is_plain_text_and_bounded(entries):
    """No marks of Markdown, nothing to be filled in, a title and a sentence in each language; and not too large."""
    for entry in entries:
        for lang in LANGUAGES:
            title, sentence, _ = entry[lang]
            assert title and sentence, entry["to"]
            assert not re.search(r"\*\*|`|\$|\{\w+[|}]", title + sentence), (entry["to"], title, sentence)
    assert len(gzip.compress(json.dumps(entries, ensure_ascii=False).encode(), 6)) < LARGEST
