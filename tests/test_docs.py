"""The documentation: the gallery's examples run, its pages are all there, and it names what there is."""

import re
from pkgutil import resolve_name

import pytest

from viz import ROOT

DOCS = ROOT / "docs"
PARTS = re.findall(r"## ([^\n]*)\n\n```python\n(.*?)```", (DOCS / "gallery.md").read_text("utf8"), re.DOTALL)
NAV = re.findall(r": ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf8"), re.MULTILINE)
ELSEWHERE = {"families.md", "deployment.md"}


@pytest.mark.parametrize(("title", "code"), PARTS, ids=[title for title, _ in PARTS])
def test_gallery_example_runs(title, code, monkeypatch, tmp_path):
    """In about ten lines, each alone, and what it writes is a small file of its own."""
    monkeypatch.chdir(tmp_path)
    exec(code.replace("headlight_viz", "viz"), {"__name__": "example"})
    (file,) = tmp_path.iterdir()
    assert file.read_text("utf8").startswith("<!doctype html>") and file.stat().st_size < 3_000_000
    assert len(code.splitlines()) <= 14 and f'save_html("{file.name}")' in code


def test_every_page_is_in_navigation():
    """And the gallery has twelve pictures."""
    assert len({re.findall(r'save_html\("(.*)"\)', code)[0] for _, code in PARTS}) == 12
    assert len(NAV) == len(set(NAV)) and set(NAV) == {path.name for path in DOCS.glob("*.md")} | ELSEWHERE


def test_reference_names_exist():
    names = re.findall(r"^::: ([\w.]+)$", "".join(path.read_text("utf8") for path in DOCS.glob("*.md")), re.MULTILINE)
    assert len(names) > 20 and all(resolve_name(name).__doc__ for name in names)
