#!/usr/bin/env bash
# Streamlit shows one error of a fragment inside other fragments once for each of them.
#
# Version: streamlit 1.67.0.
# Guessed: an error that a fragment has handled and shown is not handled again by the fragment around it.
# Seen: the page has one error box for each level, the first of the error's own type, all others of
# FragmentHandledException, an internal type. What stands below the outermost fragment is not drawn.
# This fails if that changes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check streamlit==1.67.0 2>/dev/null
cd "$folder"
cat >look.py <<'PYTHON'
import streamlit
from streamlit.testing.v1 import AppTest

APP = """
import streamlit as st

def draw(level):
    @st.fragment
    def part():
        st.text(f"level {level}")
        if level == 1:
            raise KeyError("beak")
        draw(level - 1)
    part()

draw(LEVELS)
st.text("below")
"""
print("streamlit", streamlit.__version__)
for levels in (1, 2, 3):
    app = AppTest.from_string(APP.replace("LEVELS", str(levels)), default_timeout=60).run()
    kinds = [error.proto.type.rpartition(".")[2] for error in app.exception]
    texts = [text.value for text in app.text]
    print(levels, "fragments:", ", ".join(kinds), "-", ", ".join(texts))
    assert kinds == ["KeyError"] + ["FragmentHandledException"] * (levels - 1)
    assert texts == [f"level {n}" for n in range(levels, 0, -1)]
PYTHON
venv/bin/python look.py 2>/dev/null
echo "as described"
