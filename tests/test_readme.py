"""The README and docs/ say what is so: their tables, commands and numbers come from the code."""

import re
import shlex
import tomllib
from types import ModuleType

import torch

from pages import FIRST, PAGES
from viz import ASSETS, ROOT, limits
from viz.frame import inputs, shared
from viz.frame.links import SHARED
from viz.frame.sidebar import path_of
from viz.lessons.lesson_file import lessons
from viz.models import registry
from viz.models.capture import capture
from viz.models.load import load
from viz.models.long.packed import pack
from viz.params import Parameter
from viz.text import sentences

README = (ROOT / "README.md").read_text("utf8")
DOCS = "\n".join(path.read_text("utf8") for path in sorted((ROOT / "docs").glob("*.md")))


def blocks() -> list[str]:
    return re.findall(r"```sh\n(.*?)\n```", README + DOCS, re.DOTALL)


def table(first_column: str) -> list[list[str]]:
    """The rows of the table whose first heading this is."""
    rows = re.search(rf"^\| {first_column} \|.*\n\|[-|]+\n((?:\|.*\n)+)", README + DOCS, re.MULTILINE)
    assert rows, f"no table of {first_column}"
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows[1].splitlines()]


def test_readme_names_every_recorded_number():
    """Numbers that no user's click computes lie in files of results; a new one belongs to the sentence above."""
    records = {
        "start.json": "the start page",
        "start_story.json": "the start page",
        "atlas": "the atlases",
        "twins": "records of trainings",
    }
    records["digits"] = records["twins"]
    settings = re.compile(r"(generation_|preprocessor_|tokenizer_)?config\.json|tokenizer\.json")
    files = [path.relative_to(ASSETS) for path in ASSETS.rglob("*.json") if not settings.fullmatch(path.name)]
    first = README.split("<picture>", maxsplit=1)[0]
    assert {path.parts[0] for path in files} == set(records)
    assert all(phrase in first for phrase in records.values())
    assert "computed, now" not in README


def test_memory_of_long_text_is_counted():
    """Three bytes a number of q and k and a step a vector are kept; the whole pass is what the server reckons with."""
    n = 4096
    vectors, width = 30 * (9 + 3), 64  # SmolLM2's layers, its heads and key/value heads, and their width
    packed = pack(torch.ones(1, 1, width))
    vector_size = sum(part.numel() * part.element_size() for part in (packed.high, packed.low, packed.step))
    pass_size, vectors_size = n * limits.LONG_TOKEN_BYTES / 1e6, n * vectors * vector_size / 1e6
    sentence = next(row[2] for row in table("setting") if row[0] == "`HEADLIGHT_LONG_TOKENS`")
    assert f"{n} tokens of SmolLM2 take {round(pass_size, -1):.0f} MB" in sentence
    assert f"{round(vectors_size, -1):.0f} of them as long as the text is kept" in sentence


def test_commands_name_existing_files():
    for word in (word for block in blocks() for word in shlex.split(block)):
        if word.endswith((".py", ".txt")):
            assert (ROOT / word).is_file(), word


def test_table_of_pages_is_complete():
    titles = sentences("en")
    expected = [
        [f"[{titles[f'{page}.title']}](pages/{page}/page.py)", "`/`" if page == FIRST else f"`/{path_of(page)}`"]
        for page in PAGES
    ]
    assert [row[:2] for row in table("page")] == expected
    assert all((ROOT / "pages" / page / "page.py").is_file() for page in PAGES)


def test_table_of_models_equals_registry():
    def row(entry: registry.Entry) -> list[str]:
        n, size = entry.parameters, entry.size_mb
        parameters = f"{n / 1e6:.0f} M" if n >= 1e6 else f"{n / 1e3:.0f} k"
        return [entry.id, entry.licence, parameters, f"{size:.0f} MB" if size >= 10 else f"{size} MB", entry.why["en"]]

    assert table("model") == [row(entry) for entry in registry.entries()]


def declared_parameters(module: ModuleType) -> set[str]:
    """The parameters of the link that a module has."""
    return {value.name for value in vars(module).values() if isinstance(value, Parameter)}


def test_table_of_parameters_equals_frame():
    rows = {name: row[1] for row in table("parameter") for name in re.findall(r"`(\w+)`", row[0])}
    named_elsewhere = {"head", "query", "key", "pad_left", "temperature", "target", "step", "words"}
    named_elsewhere |= {"toy_heads", "pattern", "stack", "near_size", "group_size", "keep", "off"}
    assert set(rows) == (declared_parameters(shared) | declared_parameters(inputs)) - named_elsewhere
    names_in_table = set(rows) - {"lang", "section"} | {"head", "pad_left"}
    assert set(SHARED) == names_in_table, "a link to another page takes them along"
    assert f"{limits.CHARACTERS:,} characters and {limits.TOKENS:,} tokens" in rows["text"]


def test_lessons_are_counted():
    """Their number in words, and the shortest and the longest, in minutes."""
    text = " ".join(README.split())
    minutes = [lesson.minutes for lesson in lessons()]
    numbers = {6: "six", 12: "twelve", 13: "thirteen", 15: "fifteen"}
    count, shortest, longest = (numbers[number] for number in (len(minutes), min(minutes), max(minutes)))
    lesson = f"{count.capitalize()} [lessons](pages/lessons/page.py) (`/lessons`)"
    assert f"{lesson}, of {shortest} to {longest} minutes each" in text


def test_links_open_what_is_described(open_app):
    links = re.findall(r"`/([\w-]*)\?(\S+=\S+)`", DOCS.split("For example")[1])
    assert links
    for path, query in links:
        expected = dict(part.split("=") for part in query.replace("+", " ").split("&"))
        app = open_app(path.replace("-", "_") or FIRST, **expected)
        assert not app.exception and not app.info and not app.error
        assert {name: str(app.session_state[name]) for name in expected} == expected


def test_numbers_of_first_example_are_measured():
    model = load(registry.entries()[0].id)
    layer, head = map(int, re.findall(r"layer (\d), head (\d)", " ".join(README.split()))[0])
    quoted = re.findall(r"(\d\.\d\d)", README.split("## What to look at first")[1])
    weights = []
    for last in ("tired", "wide"):
        trace = capture(model, f"The animal didn't cross the street because it was too {last}.")
        row = trace.layer(layer).weights[head, trace.tokens.labels.index("it")]
        weights += [f"{row[trace.tokens.labels.index(word)]:.2f}" for word in ("animal", "street")]
    assert quoted[: len(weights)] == weights


def test_layout_names_every_folder():
    """The table of CONTRIBUTING.md has every folder of viz, and what it names exists."""
    contributing = (ROOT / "CONTRIBUTING.md").read_text("utf8")
    cells = re.findall(r"^\| (`[^|]+) \|", contributing.split("## Words we use")[0], re.MULTILINE)
    names = {name for cell in cells for name in re.findall(r"`([\w./]+)`", cell)}
    parts = {f"viz/{path.name}/" for path in (ROOT / "viz").iterdir() if (path / "__init__.py").exists()}
    assert parts - {"viz/streamlit_internals/"} <= names
    assert all((ROOT / name).exists() for name in names if name.startswith("viz/"))


def test_links_between_documents_lead_somewhere():
    for path in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")):
        for target in re.findall(r"\]\((?!https?:|#)([^)#]+)", path.read_text("utf8")):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_server_settings_list_defaults():
    """Every setting of the server is listed with its default."""
    source = (ROOT / "viz" / "limits.py").read_text("utf8")
    numbers = {
        f"HEADLIGHT_{name}": default.replace("_", "")
        for name, default in re.findall(r'read_integer\("(\w+)", ([\d_]+)', source)
    }
    names_elsewhere = {f"HEADLIGHT_{name}" for name in re.findall(r'names\("(\w+)"', source)} | set(
        re.findall(r'environ.get\("(HEADLIGHT_\w+)"', source)
    )
    defaults = {name.strip("`"): default for name, default, _ in table("setting")}
    assert numbers.items() <= defaults.items()
    assert set(defaults) == set(numbers) | names_elsewhere


def test_streamlits_options_exist():
    """Of .streamlit/config.toml: one that is misspelt, or gone after an update, would only be a line in the log."""
    from streamlit import config

    options = config.get_config_options()

    def flat(settings: dict, prefix: str) -> list[str]:
        return [
            name
            for key, value in settings.items()
            for name in (flat(value, f"{prefix}{key}.") if isinstance(value, dict) else [prefix + key])
        ]

    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text("utf8"))
    assert [name for name in flat(settings, "") if name not in options] == []
