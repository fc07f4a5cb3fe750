"""The head grid in JupyterLab itself, driven in Chromium.

Two views in one notebook, a head chosen in one of them as Python sees it, and a saved file that opens as it was.
"""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.browser.drive import PATIENCE, ROOT, stop

CELLS = (
    """import json, torch, viz
from pathlib import Path

def told(change):
    grid = change["owner"]
    grid.save_html("heads.html", title="from JupyterLab")
    Path("written.json").write_text(json.dumps([grid.layer, grid.head, grid.query]))
    Path("written.json").rename("told.json")

maps = tuple(torch.softmax(3 * torch.randn(1, 3, 5, 5), -1) for _ in range(2))
first, second = viz.show(maps, list("abcde")), viz.show(maps[:1], list("vwxyz"), lang="zh")
first.observe(told, "query")""",
    "first",
    "second",
)


def notebook() -> str:
    """A notebook with these cells."""
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "id": str(i), "metadata": {}, "execution_count": None, "outputs": [], "source": source}
        for i, source in enumerate(CELLS)
    ]
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5})


@contextmanager
def lab(folder: Path) -> Iterator[str]:
    """JupyterLab in a folder, on a free port of this machine, until the block ends; gives the notebook's address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    options = ["--no-browser", "--ip=127.0.0.1", f"--port={port}", f"--IdentityProvider.token={token}", "--allow-root"]
    (folder / "heads.ipynb").write_text(notebook(), "utf8")
    homes = {f"JUPYTER_{name}_DIR": str(folder / "jupyter" / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    with (
        (folder / "log.txt").open("w") as log,
        subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options],
            cwd=folder,
            env=os.environ | homes | {"PYTHONPATH": str(ROOT)},
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        try:
            _wait(port, process)
            yield f"http://127.0.0.1:{port}/lab/tree/heads.ipynb?token={token}"
        finally:
            stop(process)


def _wait(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + PATIENCE / 1000
    while time.monotonic() < deadline and process.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise RuntimeError("JupyterLab did not start: is it installed?")


def _run_all(page: Page) -> Locator:
    expect(page.locator(".jp-Notebook")).to_be_visible()
    expect(page.get_by_text("(ipykernel) | Idle")).to_be_visible()
    page.add_locator_handler(page.get_by_role("button", name="Select", exact=True), lambda button: button.click())
    page.get_by_role("menuitem", name="Run", exact=True).click()
    page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
    grids = page.locator(".head-grid")
    expect(grids).to_have_count(2)
    return grids


@pytest.fixture
def lab_page(browser: Browser) -> Iterator[Page]:
    """A page without the check of the console, since JupyterLab writes into it."""
    context = browser.new_context(viewport={"width": 1400, "height": 1000})
    context.set_default_timeout(PATIENCE)
    yield context.new_page()
    context.close()


@pytest.mark.skipif(find_spec("jupyterlab") is None, reason="JupyterLab is not installed: requirements-dev.txt has it")
def test_two_views_and_saved_file(lab_page: Page, tmp_path: Path) -> None:
    """Two views, a head selected in one, and a file saved from it."""
    with lab(tmp_path) as address:
        lab_page.goto(address)
        grids = _run_all(lab_page)
        first, second = grids.nth(0), grids.nth(1)
        around = lab_page.locator(".jp-Notebook").evaluate("(place) => getComputedStyle(place).backgroundColor")
        expect(first).to_have_css("--st-background-color", around)
        first.locator(".thumb").nth(4).hover()
        expect(first.locator(".says")).to_contain_text("layer 1, head 1")
        first.locator(".thumb").nth(4).click()
        first.locator(".token").nth(2).click()
        output = _run_notebook(lab_page, tmp_path)
        assert output == [1, 1, 2]
        expect(second.locator(".chip")).to_have_count(0)
        lab_page.mouse.move(0, 0)
        sentence = first.locator(".says").inner_text()
    alone = lab_page.context.new_page()
    alone.goto((tmp_path / "heads.html").as_uri())
    expect(alone.locator(".head-grid .says")).to_have_text(sentence)


def _run_notebook(page: Page, folder: Path) -> object:
    """Run the notebook and return the message to Python, once it is written down, behind the file that it saved."""
    deadline = time.monotonic() + PATIENCE / 1000
    while not (folder / "told.json").is_file():
        assert time.monotonic() < deadline, "Python was not told"
        page.wait_for_timeout(50)
    return json.loads((folder / "told.json").read_text("utf8"))
