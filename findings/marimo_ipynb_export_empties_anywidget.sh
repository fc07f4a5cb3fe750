#!/usr/bin/env bash
# marimo's export to ipynb writes an anywidget as an element that only marimo's own page can fill.
#
# Versions: marimo 0.25.2, anywidget 0.11.0.
# Guessed: `marimo export ipynb --include-outputs` writes what the widget gives to Jupyter, its MIME bundle (a widget
# view, text/html, text/plain), and the widget's state into the notebook's metadata, so that Jupyter, GitHub and
# nbconvert show the widget or at least its text/html.
# Seen: the one output is text/markdown, an escaped <marimo-anywidget> element with a model_id. The bundle is not asked
# for, and no state is in the notebook: the model_id leads nowhere, and a reader sees the element's source as text.
# This fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check marimo==0.25.2 anywidget==0.11.0 nbformat 2>/dev/null
cat >"$folder/page.py" <<'PYTHON'
import marimo

app = marimo.App()


@app.cell
def _():
    import anywidget
    import traitlets

    class Grid(anywidget.AnyWidget):
        _esm = "export default { render({ model, el }) { el.textContent = model.get('value'); } };"
        value = traitlets.Unicode("a live picture").tag(sync=True)

        def _repr_mimebundle_(self, **options):
            bundle = super()._repr_mimebundle_(**options)
            data = bundle[0] if isinstance(bundle, tuple) else bundle
            return {**data, "text/html": "<p>a still picture</p>"}

    grid = Grid()
    bundle = sorted(grid._repr_mimebundle_())
    grid
    return (bundle,)


@app.cell
def _(bundle):
    print("the bundle:", *bundle)
    return


if __name__ == "__main__":
    app.run()
PYTHON
cd "$folder"
venv/bin/marimo --yes export ipynb page.py -o page.ipynb --include-outputs --force </dev/null >/dev/null 2>&1
venv/bin/python - <<'PYTHON'
import importlib.metadata
import json

notebook = json.load(open("page.ipynb", encoding="utf-8"))
outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
views = [output["data"] for output in outputs if "data" in output]
text = "".join(text for output in outputs for text in output.get("text", []))
print("marimo", importlib.metadata.version("marimo"), "anywidget", importlib.metadata.version("anywidget"))
print(text.strip())
print("outputs:", [sorted(view) for view in views], "widget state in the metadata:", "widgets" in notebook["metadata"])
print("".join(views[0]["text/markdown"])[:120])
assert "application/vnd.jupyter.widget-view+json" in text and "text/html" in text
assert [sorted(view) for view in views] == [["text/markdown"]]
assert "marimo-anywidget" in "".join(views[0]["text/markdown"])
assert "a still picture" not in json.dumps(notebook["cells"][0]["outputs"])
assert "a live picture" not in json.dumps(notebook["cells"][0]["outputs"]) and "widgets" not in notebook["metadata"]
print("as described")
PYTHON
