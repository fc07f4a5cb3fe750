"""What the first run of a server imports: what its picture needs, and the page that was opened."""

import json
import subprocess
import sys

from pages import FIRST, PAGES
from viz import ROOT

RUN = """
import json, sys
from streamlit.testing.v1 import AppTest
app = AppTest.from_file("app.py", default_timeout=600).run()
assert not app.exception
assert [view for view in app.get("bidi_component") if view.proto.component_name == "headlight.head_grid"]
first = sorted(sys.modules)
import serve
serve.import_pages()
print(json.dumps([first, sorted(sys.modules)]))
"""


def test_the_first_picture_imports_one_page_and_nothing_that_others_need():
    run = RUN.replace('"app.py"', repr(str(ROOT / "app.py")))
    done = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr
    first, hosted = (set(names) for names in json.loads(done.stdout.splitlines()[-1]))
    assert {name for name in PAGES if f"pages.{name}.page" in first} == {FIRST}
    assert "transformers.modeling_utils" in first, "the test sees what is imported"
    assert not first & {"pandas", "pyarrow", "scipy", "scipy.optimize", "viz.core.analysis.rollout"}
    assert not {name for name in first if name.startswith(("viz.lessons", "viz.frame.lesson."))}, "no lesson is on"
    assert {name for name in PAGES if f"pages.{name}.page" in hosted} == set(PAGES), (
        "what a public server does behind its first page"
    )
