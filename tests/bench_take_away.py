"""Heads as one HTML file, beside BertViz and CircuitsVis: bytes, requests, seconds until they are painted.

    pip install bertviz circuitsvis; python -m tests.bench_take_away [16 64 128] [--scripts FOLDER]

The same random weights (6 layers of 12 heads) in one Chromium, which reaches no network: what a page asks another host
for is counted. BertViz and CircuitsVis draw nothing then; d3.min.js, jquery.min.js and require.min.js in FOLDER are
handed out in the hosts' place, so that BertViz can be timed at its best. CircuitsVis is given the script that it
brings itself. What is not painted after 170 seconds is given up.
"""

import argparse
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import torch
from playwright.sync_api import Browser, Route, sync_playwright
from playwright.sync_api import TimeoutError as Late

import viz
from tests.browser.drive import FLAGS, find_browser

LATEST = 170_000
PAINTED = {
    "headlight": "document.querySelector('.head-grid')?.headGrid?.map",
    "bertviz": "document.querySelectorAll('svg path, svg line').length > 0",
    "circuitsvis": "document.querySelectorAll('canvas, img').length > 0",
}
"""What is there once heads are on the screen."""


def _bertviz(maps: tuple[torch.Tensor, ...], tokens: list[str]) -> str:
    made: Any = import_module("bertviz").model_view(maps, tokens, html_action="return")
    return f'<meta charset="utf-8"><script src="https://cdnjs.cloudflare.com/require.min.js"></script>{made.data}'


def _circuitsvis(maps: tuple[torch.Tensor, ...], tokens: list[str]) -> str:
    made: Any = import_module("circuitsvis.attention").attention_heads(
        tokens=tokens, attention=torch.cat(maps).flatten(0, 1)
    )
    return f'<meta charset="utf-8">{made.local_src}'


def _ours(maps: tuple[torch.Tensor, ...], tokens: list[str]) -> str:
    with TemporaryDirectory() as folder:
        return viz.show(maps, tokens).save_html(Path(folder) / "heads.html").read_text("utf8")


MAKE: Mapping[str, Callable[[tuple[torch.Tensor, ...], list[str]], str]] = {
    "headlight": _ours,
    "bertviz": _bertviz,
    "circuitsvis": _circuitsvis,
}


def measure(browser: Browser, file: Path, painted: str, scripts: Path | None) -> tuple[int, float | None]:
    """How many requests a file makes of other hosts, and the seconds until it has painted; None if it does not."""
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
        page.wait_for_function(painted, timeout=LATEST if scripts or not elsewhere else 5_000)
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
    parser.add_argument("--scripts", type=Path)
    asked = parser.parse_args()
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        given_up: set[str] = set()
        for n in asked.tokens:
            maps = tuple(torch.softmax(2 * torch.randn(1, 12, n, n), -1) for _ in range(6))
            for tool in (tool for tool in MAKE if tool not in given_up):
                file, start = Path(folder) / f"{tool}-{n}.html", time.perf_counter()
                file.write_text(MAKE[tool](maps, [f"w{i}" for i in range(n)]), "utf8")
                made = time.perf_counter() - start
                requests, seconds = measure(browser, file, PAINTED[tool], asked.scripts)
                painted = "not painted" if seconds is None else f"painted after {seconds:.2f} s"
                size = file.stat().st_size / 1e6
                line = (
                    f"{tool:12} {n:4} tokens: {size:8.2f} MB, written in {made:.1f} s, {requests} requests, {painted}\n"
                )
                sys.stdout.write(line)
                sys.stdout.flush()
                if seconds is None:
                    given_up.add(tool)
        browser.close()


if __name__ == "__main__":
    main()
