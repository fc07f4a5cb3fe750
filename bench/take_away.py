"""Heads as one HTML file, beside BertViz and CircuitsVis: bytes, requests, seconds until they are painted.

    python -m bench.take_away [16 64 128 256 512] [--python INTERPRETER] [--scripts FOLDER]

INTERPRETER is one that has them (``pip install bertviz circuitsvis``), where this one has not; a tool that it lacks is
left out, with a sentence. The same random weights (6 layers of 12 heads) in one Chromium, which reaches no network:
what a page asks another host for is counted. BertViz and CircuitsVis draw nothing then; d3.min.js, jquery.min.js and
require.min.js in FOLDER are handed out in the hosts' place, so that BertViz can be timed at its best. CircuitsVis is
given the script that it brings itself. What is not painted after 170 seconds is given up.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from playwright.sync_api import Browser, Route, sync_playwright
from playwright.sync_api import TimeoutError as Late

import viz
from tests.browser.drive import FLAGS, find_browser

LATEST = 170_000
PAINT_CONDITIONS = {
    "headlight": "document.querySelector('.head-grid')?.headGrid?.map",
    "bertviz": "document.querySelectorAll('svg path, svg line').length > 0",
    "circuitsvis": "document.querySelectorAll('canvas, img').length > 0",
}
"""A condition for each tool that holds once heads are on the screen."""
_READ = """
import sys, time
import numpy, torch
begun = time.perf_counter()
maps = torch.from_numpy(numpy.load(sys.argv[1]))
tokens = [f"w{i}" for i in range(maps.shape[-1])]
"""
_WRITE = """
with open(sys.argv[2], "w", encoding="utf8") as file:
    file.write('<meta charset="utf-8">' + made)
print(time.perf_counter() - begun)
"""
PEER_SCRIPTS: Mapping[str, str] = {
    "bertviz": f"""from bertviz import model_view
{_READ}
made = '<script src="https://cdnjs.cloudflare.com/require.min.js"></script>'
made += model_view(tuple(layer[None] for layer in maps), tokens, html_action="return").data
{_WRITE}""",
    "circuitsvis": f"""from circuitsvis.attention import attention_heads
{_READ}
made = attention_heads(tokens=tokens, attention=maps.flatten(0, 1)).local_src
{_WRITE}""",
}
"""Script of each other tool that writes the maps of one file into another, in an interpreter that has it."""


def has(python: str, tool: str) -> bool:
    """Return whether an interpreter has a tool; print a line if it has none."""
    is_installed = subprocess.run([python, "-c", f"import {tool}"], capture_output=True, check=False).returncode == 0
    if not is_installed:
        sys.stdout.write(
            f"{tool} is left out: the interpreter has none (pip install {tool}, or name one by --python)\n"
        )
    return is_installed


def write(tool: str, maps: Path, file: Path, python: str) -> float:
    """Write the maps as the page that a tool makes of them; gives the seconds that takes once the tool is imported."""
    if tool in PEER_SCRIPTS:
        command = [python, "-c", PEER_SCRIPTS[tool], str(maps), str(file)]
        process = subprocess.run(command, check=True, capture_output=True, text=True)
        return float(process.stdout.splitlines()[-1])
    start = time.perf_counter()
    layers = torch.from_numpy(np.load(maps))
    viz.show(tuple(layer[None] for layer in layers), [f"w{i}" for i in range(layers.shape[-1])]).save_html(file)
    return time.perf_counter() - start


def measure(browser: Browser, file: Path, paint_condition: str, scripts: Path | None) -> tuple[int, float | None]:
    """Return a file's requests to other hosts, and the seconds until it has painted; None if it does not."""
    context, elsewhere = browser.new_context(), []

    def answer(route: Route) -> None:
        elsewhere.append(route.request.url)
        script = scripts and scripts / route.request.url.rpartition("/")[2]
        if script and script.is_file():
            route.fulfill(path=script, content_type="text/javascript", headers={"access-control-allow-origin": "*"})
        else:
            route.abort()

    context.route(lambda url: url.startswith("http"), answer)
    page, start = context.new_page(), time.perf_counter()
    try:
        page.goto(file.as_uri(), timeout=LATEST)
        page.wait_for_function(paint_condition, timeout=LATEST if scripts or not elsewhere else 5_000)
        page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        seconds: float | None = time.perf_counter() - start
    except Late:
        seconds = None
    context.close()
    return len(elsewhere), seconds


def main() -> None:
    """One line for each tool and length."""
    parser = argparse.ArgumentParser()
    parser.add_argument("tokens", nargs="*", type=int, default=[16, 64, 128, 256, 512])
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--scripts", type=Path)
    options = parser.parse_args()
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        given_up = {tool for tool in PEER_SCRIPTS if not has(options.python, tool)}
        maps = Path(folder) / "maps.npy"
        for n in options.tokens:
            np.save(maps, torch.softmax(2 * torch.randn(6, 12, n, n), -1).numpy())
            for tool in (tool for tool in PAINT_CONDITIONS if tool not in given_up):
                file = Path(folder) / f"{tool}-{n}.html"
                write_seconds = write(tool, maps, file, options.python)
                requests, seconds = measure(browser, file, PAINT_CONDITIONS[tool], options.scripts)
                paint_note = "not painted" if seconds is None else f"painted after {seconds:.2f} s"
                size = file.stat().st_size / 1e6
                line = (
                    f"{tool:12} {n:4} tokens: {size:8.2f} MB, "
                    f"written in {write_seconds:.1f} s, {requests} requests, {paint_note}\n"
                )
                sys.stdout.write(line)
                sys.stdout.flush()
                if seconds is None:
                    given_up.add(tool)
        browser.close()


if __name__ == "__main__":
    main()
