"""Output of a picture's menu: numbers for a spreadsheet and for Markdown; and the views that have one."""

import csv
import io
import json
import re
import shutil
import subprocess
from typing import Any

import pytest
import torch

from viz import ROOT
from viz.components import bundle

NODE = shutil.which("node")
FORMULA = tuple("=+-@\t\r\n＝＋－＠")
"""First characters of a formula in a spreadsheet."""
CLIENT = ROOT / "viz" / "components" / "client"
HOSTILE = [
    "=1+1",
    "+2",
    "-3",
    "@SUM(A1)",
    "\tx",
    "\rx",
    "＝1",
    "－1",
    'a"b',
    "a,b",
    "a\nb",
    "'",
    "",
    "|x|",
    "0.5",
    "<b>",
]
NO_PICTURES = {
    *("share/share", "present/notes", "present/presenter", "figure/menu"),
    *("lesson/lesson_bar", "lesson/lesson_path", "lesson/my_lesson", "lesson/sheet", "search/find", "search/search"),
}
"""Views that are ways to somewhere, or controls, and show no numbers; nor do those of the frame."""


def run(tmp_path, tables: list[dict[str, Any]], **words: object) -> dict[str, str]:
    """The module's output for some tables, as CSV and as Markdown."""
    (tmp_path / "tables.mjs").write_bytes((CLIENT / "figure" / "tables.js").read_bytes())
    code = """
        const { csv, markdown } = await import("./tables.mjs"), { tables, said } = JSON.parse(process.argv[1]);
        console.log(JSON.stringify({ csv: csv(tables), markdown: markdown(tables, said) }));
    """
    default_words = {"caption": "A *map*", "facts": ["model_1"], "link": "http://x/?a=1", "name": "headlight-map"}
    request = json.dumps({"tables": tables, "said": default_words | words})
    command = [str(NODE), "--input-type=module", "--eval", code, "--", request]
    process = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=True)
    return dict(json.loads(process.stdout))


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser tests save the same file")
def test_csv_has_exact_numbers_and_names(tmp_path):
    """CSV holds every number exactly, and no name is read as a formula."""
    values = torch.randn(len(HOSTILE), len(HOSTILE), generator=torch.Generator().manual_seed(0)) * 1e-3
    rows = [[name, *line] for name, line in zip(HOSTILE, values.tolist(), strict=True)]
    first, second = (
        {"title": "=A", "columns": ["", *HOSTILE], "rows": rows},
        {"title": "B", "columns": ["n"], "rows": [[3]]},
    )
    table_csv = run(tmp_path, [first, second])["csv"]
    assert table_csv.startswith("\ufeff")
    read = list(csv.reader(io.StringIO(table_csv.removeprefix("\ufeff"), newline="")))
    title, head, *lines = read[: len(HOSTILE) + 2]
    assert title == ["'=A"] and read[len(HOSTILE) + 2 :] == [[], ["B"], ["n"], ["3"]]
    names = [f"'{name}" if name.startswith(FORMULA) else name for name in HOSTILE]
    assert head == ["", *names] and [line[0] for line in lines] == names
    assert torch.equal(torch.tensor([[float(cell) for cell in line[1:]] for line in lines]), values)


@pytest.mark.skipif(NODE is None, reason="node is not installed; the browser tests copy the same text")
def test_small_table_is_markdown(tmp_path):
    """A small table is Markdown; a large one is a line for the picture."""
    small = {"columns": ["", "a|b", "*c*"], "rows": [["<i>", 0.123456, None], ["www.x.org", 2, -1e-9]]}
    lines = run(tmp_path, [small])["markdown"].splitlines()
    assert lines[:4] == [
        "|  | a\\|b | \\*c\\* |",
        "| --- | ---: | ---: |",
        "| \\<i\\> | 0.1235 |  |",
        "| www\\.x\\.org | 2 | -0.0000 |",
    ]
    assert lines[5] == "A \\*map\\* · model\\_1 · [Headlight](<http://x/?a=1>)"
    large = {"columns": ["", *"x" * 17], "rows": [["a", *range(17)]]}
    for tables in ([large], [small, small]):
        assert run(tmp_path, tables)["markdown"].startswith("![A \\*map\\*](headlight-map.png)\n")


def made_of(view: str) -> str:
    """The code of a view with all it is made of."""
    return bundle.bundle(view)[1].decode()


@pytest.mark.parametrize("view", [view for view in bundle.views() if not view.startswith("frame/")])
def test_pictures_all_send_numbers(view):
    assert ("  asTables() {" in made_of(view)) == (view not in NO_PICTURES)


def test_menu_code_is_in_no_view():
    """Only the head grid records its canvas, too: in a notebook and in one file it saves pictures without the menu."""
    holding = {mark: {view for view in bundle.views() if mark in made_of(view)} for mark in ("class Menu", "toPng")}
    assert holding == {"class Menu": {"figure/menu"}, "toPng": {"figure/menu"}}
    recording = {view for view in bundle.views() if "class Sketch" in made_of(view)}
    assert recording == {"figure/menu", "head_grid/head_grid", "take_away/take_away"}


def test_menu_sends_no_requests():
    hosts = set(re.findall(r"https?://[\w.]+", made_of("figure/menu")))
    assert hosts == {"http://www.w3.org"}, "the name of SVG"
