"""Imports of a server's first run: those of its picture and of the opened page."""

import json
import os
import subprocess
import sys

from pages import EVERY, FIRST, HEADS, PAGES
from viz import ROOT
from viz.app.make import SCRIPT

RUN = """
import json, sys
from streamlit.testing.v1 import AppTest
bare = sorted(sys.modules)
app = AppTest.from_file(SCRIPT, default_timeout=600).run()
assert not app.exception
shown = [view.proto.component_name.partition(".")[2] for view in app.get("bidi_component")]
assert "arcs" in shown, shown
declared = set(app.session_state["_parameters"].declared)
assert declared == {"lang", "present", "notes", "print", "without", "theme", "sentence"}, "no other page's"
start = sorted(sys.modules)
from viz.frame.sidebar import file_of
app.switch_page(file_of("heads")).run()
assert not app.exception
assert [view for view in app.get("bidi_component") if view.proto.component_name == "headlight.head_grid"]
first = sorted(sys.modules)
from viz.app.public import import_pages
import_pages()
print(json.dumps([bare, start, first, sorted(sys.modules)]))
"""
HOSTED = """
import json, sys
import streamlit
bare = sorted(sys.modules)
import serve
print(json.dumps([bare, sorted(sys.modules)]))
"""
THREADS = """
import json, re, threading
from viz.frame.connection import loading
loading.module("viz.frame.compute").warm()
import torch
told = []
run = threading.Thread(target=lambda: told.append(torch.__config__.parallel_info()))
run.start()
run.join()
print(json.dumps(dict(re.findall(r"(\\w+)_get_max_threads\\(\\) : (\\d+)", told[0]))))
"""
LARGE = {"torch", "transformers", "tokenizers", "plotly", "jaxtyping"}


def test_server_listens_before_large_imports():
    process = subprocess.run([sys.executable, "-c", HOSTED], capture_output=True, text=True, cwd=ROOT, check=False)
    assert process.returncode == 0, process.stderr
    bare, hosted = (set(names) for names in json.loads(process.stdout.splitlines()[-1]))
    assert {name for name in EVERY if f"pages.{name}.page" in hosted} == {FIRST}
    assert not {name.partition(".")[0] for name in hosted - bare} & LARGE


def test_first_picture_imports_one_page():
    """The first pictures import one page, and nothing that only other pages need."""
    run = RUN.replace("SCRIPT", repr(str(SCRIPT)))
    process = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, cwd=ROOT, check=False)
    assert process.returncode == 0, process.stderr
    bare, start, first, hosted = (set(names) for names in json.loads(process.stdout.splitlines()[-1]))
    assert {name for name in EVERY if f"pages.{name}.page" in start} == {FIRST}
    parts = {name.partition(".")[0] for name in start - bare}
    assert not parts & LARGE
    assert not {name for name in start if name.startswith(("viz.core", "viz.models", "viz.figures", "viz.lessons"))}
    assert {name for name in EVERY if f"pages.{name}.page" in first} == {FIRST, HEADS}
    assert "transformers.modeling_utils" in first, "the test sees what is imported"
    assert not first & {"pandas", "pyarrow", "viz.core.analysis.rollout"}
    of_lessons = {name for name in first if name.startswith(("viz.lessons", "viz.modes.lesson."))}
    assert of_lessons == {"viz.modes.lesson.parameters"}, "no lesson is on: its parameters are asked for, no more"
    assert {name for name in PAGES if f"pages.{name}.page" in hosted} == set(PAGES), (
        "what a public server does behind its first page"
    )


def test_first_product_starts_no_threads():
    """torch.set_num_threads is of the thread that says it; the first product in another took 9 ms to start some."""
    environment = {
        name: value for name, value in os.environ.items() if name not in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
    }
    command = [sys.executable, "-c", THREADS]
    process = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    assert process.returncode == 0, process.stderr
    threads = json.loads(process.stdout.splitlines()[-1])
    assert threads and set(threads.values()) == {"1"}, threads
