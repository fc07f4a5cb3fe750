#!/usr/bin/env bash
# nbconvert drops an output's text/html as soon as the notebook has the state of its widget.
#
# Versions: nbconvert 7.17.0, nbformat 5.10.4.
# Guessed: an output with a widget view, text/html and text/plain is exported to HTML with both the widget and its
# text/html, or with the latter where no script may run, so that a still picture there serves a page read offline.
# Seen: without the widget's state in the notebook the text/html is in the page. With it only the widget view is, and
# the text/html is gone; read offline, where the scripts of the view do not come, the place is empty.
# This fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check nbconvert==7.17.0 nbformat==5.10.4 2>/dev/null
"$folder/venv/bin/python" - <<'PYTHON'
import nbconvert
import nbformat
from nbformat import v4

VIEW, STATE = "application/vnd.jupyter.widget-view+json", "application/vnd.jupyter.widget-state+json"
output = v4.new_output(
    "display_data",
    data={
        VIEW: {"model_id": "grid", "version_major": 2, "version_minor": 0},
        "text/html": "<p>a still picture</p>",
        "text/plain": "Grid()",
    },
)
model = {"model_name": "HTMLModel", "model_module": "@jupyter-widgets/controls", "model_module_version": "2.0.0", "state": {}}
notebook = v4.new_notebook(cells=[v4.new_code_cell("grid", outputs=[output])])
pages = {}
for name, metadata in {
    "without state": {},
    "with state": {"widgets": {STATE: {"version_major": 2, "version_minor": 0, "state": {"grid": model}}}},
}.items():
    notebook.metadata.update(metadata)
    nbformat.validate(notebook)
    pages[name], _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
print("nbconvert", nbconvert.__version__, "nbformat", nbformat.__version__)
for name, page in pages.items():
    print(f"{name}: text/html is there: {'a still picture' in page}, widget view is there: {'widget-view+json' in page}")
assert "a still picture" in pages["without state"]
assert "a still picture" not in pages["with state"] and "widget-view+json" in pages["with state"]
print("as described")
PYTHON
