"""This checkout beside another one, in turn in one browser: ``python -m bench.beside PATH``.

Prints, for every move and both processors (this one, and one made six times slower), the median milliseconds from the
click to the last change of the page, and how many messages came.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Page, sync_playwright

from bench.reruns import QUIET, WATCH
from tests.browser.drive import FLAGS, ROOT, Traffic, address, count, find_browser, listen, open_chip, serve, wait_run
from viz.text import translator

MOVES = 10
T = translator("en")


@dataclass(frozen=True)
class Side:
    """A page of one checkout, and what it is sent."""

    page: Page
    traffic: Traffic


@dataclass(frozen=True)
class Move:
    """A move on a page: ``do`` is given the page and how often it was done."""

    name: str
    path: str
    link: dict[str, str]
    do: Callable[[Page, int], None]
    chip: str = ""


def choose(name: str, second_name: str, page: Page, n: int) -> None:
    """Choose one of two pages in the navigation, in turn."""
    title = T(f"{(name, second_name)[n % 2]}.title")
    page.get_by_test_id("stSidebarNav").get_by_text(title, exact=True).click()


def press(selector: str, page: Page, n: int) -> None:
    """Move a slider to and fro."""
    page.locator(selector).first.press(("ArrowRight", "ArrowLeft")[n % 2])


def click(selector: str, page: Page, n: int) -> None:
    """Click the first and the second of what is found, in turn."""
    page.locator(selector).nth(n % 2).click()


def moves() -> list[Move]:
    """All of them."""
    pairs = [
        ("masks", "heads"),
        ("positions", "heads"),
        ("cost", "masks"),
        ("share_kv", "atlas"),
        ("block", "stacking"),
    ]
    page_moves = [Move(f"{a}, {b} chosen", a.replace("_", "-"), {}, partial(choose, b, a)) for a, b in pairs]
    slider = ".st-key-{} input[type=range]"
    return [
        *page_moves,
        Move("heads: layer", "heads", {}, partial(press, slider.format("layer")), chip="layer"),
        Move("heads: a head clicked", "heads", {}, partial(click, ".head-grid .thumb")),
        Move(
            "positions: a slider",
            "positions",
            {"section": "sinusoids", "pe_show": "step"},
            partial(press, slider.format("pe_pair")),
        ),
        Move(
            "cost: a switch", "cost", {"section": "heads"}, lambda page, _: click(".st-key-cost_fixed label", page, 0)
        ),
        Move("share kv: G", "share-kv", {}, partial(press, slider.format("n_kv_heads"))),
        Move("footer opened", "cost", {"section": "heads"}, partial(click, '[class*="st-key-_footer_"] button')),
    ]


IS_QUIET = """(quiet) => last.change && performance.now() - last.change > quiet
    && document.querySelector('[data-testid=stApp]').dataset.testScriptState === 'notRunning'"""


def time_to_quiet(page: Page, act: Callable[[], Any]) -> float:
    """Milliseconds from what is done to the last change, by what is seen: an older checkout may answer otherwise."""
    act()
    page.wait_for_function(IS_QUIET, arg=QUIET)
    return float(page.evaluate("() => last.change - last.begin"))


def measure(sides: list[Side], urls: list[str], move: Move) -> list[tuple[float, float]]:
    """Median milliseconds and messages of each side, whose moves are made in turn."""
    for side, url in zip(sides, urls, strict=True):
        side.page.goto(address(url, move.path, lang="en", **move.link))
        wait_run(side.page)
        side.page.evaluate(WATCH)
        if move.chip:
            open_chip(side.page, move.chip)
    samples: list[list[tuple[float, float]]] = [[] for _ in sides]
    for n in range(MOVES + 2):
        for side, row in zip(sides, samples, strict=True):
            before = side.traffic.messages
            row.append((time_to_quiet(side.page, partial(move.do, side.page, n)), side.traffic.messages - before))
    return [(median(sample[0] for sample in row[2:]), median(sample[1] for sample in row[2:])) for row in samples]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=Path, help="the other checkout")
    before: Path = parser.parse_args().before.resolve()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        scripts = [before / "app.py", ROOT / "app.py"]
        servers = [
            stack.enter_context(serve(script, folder / f"{n}.txt", PYTHONPATH=str(script.parent)))
            for n, script in enumerate(scripts)
        ]
        playwright = stack.enter_context(sync_playwright())
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        for slower in (1, 6):
            sides = []
            for _ in servers:
                page = listen(browser.new_context(viewport={"width": 1280, "height": 800}, locale="en-US").new_page())
                page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": slower})
                sides.append(Side(page, count(page)))
            for move in moves():
                (old, sent_before), (new, n_messages) = measure(sides, [server.url for server in servers], move)
                sys.stdout.write(
                    f"{slower} x  {move.name:28} {old:7.0f} ms {sent_before:4.0f}   {new:7.0f} ms {n_messages:4.0f}   "
                    f"{new / old:5.2f}\n"
                )
                sys.stdout.flush()


if __name__ == "__main__":
    main()
