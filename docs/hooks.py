"""Pages from elsewhere, links, pictures and plain docstrings for the documentation."""

import logging
import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import griffe
from mkdocs.structure.files import File

ROOT = Path(__file__).parents[1]
ELSEWHERE = {"families.md": "viz/models/FAMILIES.md", "deployment.md": "deploy/README.md"}
"""Pages that stand where they are needed, by their place among the others."""
LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:|#|mailto:)([^)\s#]*)(#[^)\s]*)?\)")
BLOCK = re.compile(r"^```python\n(.*?)^```\n", re.MULTILINE | re.DOTALL)
SAVED = re.compile(r'save_html\("([\w-]+\.html)"\)')
log = logging.getLogger("mkdocs.hooks")


def on_files(files, config):
    """Add the pages that stand elsewhere, and the files that the gallery's examples write."""
    for name, path in ELSEWHERE.items():
        files.append(File.generated(config, name, content=(ROOT / path).read_text("utf8")))
    with TemporaryDirectory() as folder:
        gallery = (ROOT / "docs" / "gallery.md").read_text("utf8")
        for number, block in enumerate(BLOCK.findall(gallery), 1):
            run = subprocess.run(
                [sys.executable, "-c", block.replace("headlight_viz", "viz")],
                cwd=folder,
                env=os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])},
                capture_output=True,
                text=True,
                check=False,
            )
            if run.returncode:
                log.warning("Example %d of the gallery fails: %s", number, run.stderr.splitlines()[-1])
        for file in Path(folder).glob("*.html"):
            files.append(File.generated(config, file.name, content=file.read_bytes()))
    return files


def on_page_markdown(markdown, page, config, files):
    """Lead links to files to their pages, or leave their words alone; add the gallery's pictures."""
    source = ROOT / ELSEWHERE.get(page.file.src_uri, f"docs/{page.file.src_uri}")
    pages = {path: name for name, path in ELSEWHERE.items()}

    def lead(match):
        words, target, anchor = match[1], match[2], match[3] or ""
        if not target:
            return match[0]
        path = os.path.relpath((source.parent / target).resolve(), ROOT)
        if path in pages or path.startswith("docs/"):
            return f"[{words}]({pages.get(path) or path.removeprefix('docs/')}{anchor})"
        return words

    text = LINK.sub(lead, markdown)
    if page.file.src_uri == "gallery.md":
        text = BLOCK.sub(_with_picture, text)
    return text


def _with_picture(match):
    """Return an example with what it makes below it."""
    names = SAVED.findall(match[1])
    style = "width: 100%; height: 42rem; border: 1px solid var(--md-default-fg-color--lightest)"
    frames = (f'\n<iframe src="{name}" title="{name}" loading="lazy" style="{style}"></iframe>\n' for name in names)
    return match[0] + "".join(frames)


class PlainDocstrings(griffe.Extension):
    """Docstrings in Markdown: of Sphinx's roles the names are left, and formulas stand as code."""

    def on_object(self, *, obj, **_):
        """Change a docstring."""
        if obj.docstring:
            text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", obj.docstring.value)
            text = re.sub(r"\.\. math::[ \n]*(.+)", r"`\1`", text)
            text = re.sub(r"\bviz\.(?=(?:show|why|watch)\b)", "hl.", text)
            obj.docstring.value = re.sub(r":math:`([^`]+)`", r"`\1`", text)
