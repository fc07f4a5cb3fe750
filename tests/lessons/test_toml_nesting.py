"""Nesting of a lesson file is counted before a parser reads it, and nothing but nesting is refused."""

import json
import shutil
import subprocess
import tomllib
import tracemalloc
from pathlib import Path
from random import Random
from typing import Any

import pytest

from viz import ROOT, limits
from viz.lessons import custom_lesson
from viz.lessons.custom_lesson import read_toml
from viz.lessons.lesson import OwnLessonError
from viz.lessons.lesson_file import FOLDER
from viz.lessons.toml_nesting import check_nesting

NODE = shutil.which("node")
WRITER_SCRIPT = ROOT / "viz/components/client/lesson/written.js"
MOST = limits.OWN_LESSON_NESTING
TEXTS = (
    "a.b.c.d.e.f.g.h.i.j.k.l", "[[[[[[[[[[[[[[[[[[[[", "}{" * 9, "'''", '"""', '"', "'", "\\", '\\"', "# [a.b] # {", "",
    "a\nb.c.d.e.f.g.h.i.j.k\n[x]", "\\\\", '""""', "''''", "\t= [", "\x7f\u2028\ufeff", "看.见.😀.", "\r\n.",
    "it's 1.5",
)  # fmt: skip
"""Characters that structure a file, as they may stand in the text of a lesson."""
DEEP = {
    "key": "a." * MOST + "a = 1",
    "spaced key": "a" + " . a" * MOST + " = 1",
    "quoted key": "'a'." * MOST + "a = 1",
    "double-quoted key": '"a".' * MOST + "a = 1",
    "table": "[" + "a." * MOST + "a]",
    "array of tables": "[[" + "a." * MOST + "a]]",
    "table and key": "[" + "a." * (MOST - 2) + "a]\n" + "b." * (MOST + 1) + "b = 1",
    "table and keys": "[" + "a." * MOST + "a]\n" + "".join(f"k{n} = 1\n" for n in range(9)),
    "inline table": "x = {" + "a." * MOST + "a = 1}",
    "later inline key": "x = {y = 1.5, " + "a." * MOST + "a = 1}",
    "key after a comment": "# it's [\n" + "a." * MOST + "a = 1",
    "key after texts": 'x = \'\'\'it\'s [ "\'\'\'\ny = """\\""" \' # """""\n' + "a." * MOST + "a = 1",
    "arrays": "a = " + "[" * (MOST + 1),
    "inline tables": "a = " + "{a=" * (MOST + 1),
    "both": "a = " + "[{a=" * (MOST + 1),
}
"""Files that nest by one more than is allowed, in every way there is. Of 64 kB of the first the parser took 3.9 GB."""
COSTLIEST = "".join(f"[k{n:x}{'.a' * (MOST - 1)}]\n" for n in range(2_900))
"""The file of up to 64 kB that takes the parser most memory of those that it is given: as many tables as there can be,
each as deep as it may be."""


def refusal(text: str) -> str:
    with pytest.raises(OwnLessonError) as error:
        read_toml(text)
    return error.value.code


def peak(text: str) -> int:
    """Bytes that the parser takes at most."""
    tracemalloc.start()
    try:
        tomllib.loads(text)
    except (RecursionError, ValueError):
        pass
    finally:
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak_bytes


@pytest.mark.parametrize("name", DEEP)
def test_read_toml_deep_file_never_parsed(name, monkeypatch):
    """A file that nests deeply is refused with a sentence of its own, before the parser begins."""
    monkeypatch.setattr(custom_lesson.tomllib, "loads", lambda text: pytest.fail("the parser was called"))
    assert refusal(DEEP[name]) == "nested"


@pytest.mark.parametrize(
    ("before", "unit", "middle", "close"),
    [("", "a.", "a = 1", ""), ("[", "a.", "a", "]"), ("x = {", "a.", "a=1", "}"), ("x = ", "[", "", "]")],
)
def test_check_nesting_at_limit_accepted(before, unit, middle, close):
    """The last depth that is allowed is read, one more is refused, for keys, tables and brackets alike."""

    def nested(n: int) -> str:
        ends = close * (n if unit == "[" else 1)
        return f"{before}{unit * (n if unit == '[' else n - 1)}{middle}{ends}\n"

    check_nesting(nested(MOST))
    tomllib.loads(nested(MOST))
    with pytest.raises(OwnLessonError) as error:
        check_nesting("\n\n" + nested(MOST + 1))
    assert (error.value.code, error.value.values) == ("nested", {"line": 3, "most": MOST})


@pytest.mark.parametrize("text", ["a = 'x\n'", 'a = "x', 'a = """x', "a = '''x''", 'a = "\\"', "a = ]", "a = 1 }"])
def test_check_nesting_unclear_quotes_refused(text):
    """A quote or a bracket without a partner is refused before the parser reads it."""
    with pytest.raises(OwnLessonError) as error:
        check_nesting("\n" + text)
    assert error.value.code == "toml"
    assert int(error.value.values["line"]) >= 2


@pytest.mark.parametrize("path", sorted(Path(FOLDER).glob("*.toml")), ids=lambda path: path.stem)
def test_check_nesting_shipped_lesson_accepted(path):
    """The lessons of this app are within the limit."""
    check_nesting(path.read_text("utf8"))


def file_of(table: dict[str, Any], quote: Any) -> str:
    """A lesson's file as the editor writes it (``toToml`` in client/lesson/written.js), texts quoted in any way."""
    lines = [f"title = {quote(table['title'])}"]
    for step in table["step"]:
        lines += ["", "[[step]]", *(f"{name} = {quote(step[name])}" for name in ("page", "section", "title"))]
        lines += [f"covers = {str(step['covers']).lower()}"]
        lines += [f"parameters.{key} = {quote(value)}" for key, value in step["parameters"].items()]
        lines += [f"ask.question = {quote(step['ask']['question'])}"]
    return "\n".join(lines) + "\n"


def test_read_toml_structural_texts_come_back():
    """Texts made of quotes, dots, brackets and comments are read as they were, however they are quoted."""
    chance = Random(0)

    def basic(text: str) -> str:
        return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

    def long_basic(text: str) -> str:
        return f'"""\n{basic(text)[1:-1]}"""'

    def literal(text: str) -> str:
        plain = not set(text) & {"'", "\n", "\r", "\x7f"}
        return f"'{text}'" if plain else long_literal(text)

    def long_literal(text: str) -> str:
        plain = "'''" not in text and not set(text) & {"\r", "\x7f"} and not text.startswith("\n")
        return f"'''{text}'''" if plain else basic(text)

    def any_way(text: str) -> str:
        return chance.choice((basic, long_basic, literal, long_literal))(text) + chance.choice(("", " # it's [ a.b\""))

    for _ in range(300):
        lesson = random_lesson(chance)
        assert read_toml(file_of(lesson, any_way)) == lesson


def random_lesson(chance: Random) -> dict[str, Any]:
    """A lesson whose texts are made of what structures a file."""

    def text() -> str:
        return "".join(chance.choices(TEXTS, k=3))[: limits.OWN_LESSON_TITLE]

    def step() -> dict[str, Any]:
        view = {"page": "heads", "section": "all_heads", "parameters": {"text": text(), "b": text()}}
        return view | {"covers": chance.random() < 0.5, "title": text(), "ask": {"question": text()}}

    return {"title": text(), "step": [step() for _ in range(3)]}


@pytest.mark.skipif(NODE is None, reason="node is not installed; test_editor.py saves and reads a file in a browser")
def test_read_toml_exported_lessons_come_back(tmp_path):
    """A lesson that the editor wrote is let through and read as it was."""
    chance = Random(2)
    lessons = [random_lesson(chance) for _ in range(200)]
    (tmp_path / "written.mjs").write_bytes(WRITER_SCRIPT.read_bytes())
    run = """
        import { readFileSync } from "node:fs";
        import { toToml } from "./written.mjs";
        console.log(JSON.stringify(JSON.parse(readFileSync("lessons.json", "utf8")).map(toToml)));
    """
    (tmp_path / "lessons.json").write_text(json.dumps(lessons), "utf8")
    command = [str(NODE), "--input-type=module", "--eval", run]
    process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert list(map(read_toml, json.loads(process.stdout))) == lessons


def test_check_nesting_costliest_file_parses_small():
    """Nothing that is let through takes more than a computation on a sentence is counted for."""
    assert 60_000 < len(COSTLIEST) <= limits.OWN_LESSON_BYTES
    check_nesting(COSTLIEST)
    assert peak(COSTLIEST) < limits.SENTENCE_PASS_BYTES


def test_check_nesting_random_files_parse_small():
    """Every accepted file takes the parser a few megabytes."""
    chance, units = Random(1), ("a", ".", "[", "]", "[[a]]\n", "{", "}", "=", " = 1\n", ",", "'", '"', "'''", '"""')
    units += ("\\", "#", "\n", " ", "a.", "[a.b.c]\n", "b.c.d.e = [1, 2]\n", "c = {a.b = 1}\n", "0x", "1.5", "[1,")
    let_through = 0
    for _ in range(1_500):
        part = "".join(chance.choices(units, k=chance.randint(1, 9)))
        text = part * chance.randint(1, 60)
        try:
            check_nesting(text)
        except OwnLessonError:
            continue
        let_through += 1
        assert peak(text) < limits.SENTENCE_PASS_BYTES, part
    assert let_through > 150
