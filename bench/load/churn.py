"""Real browsers that come and go: ``python -m bench.load.churn --pages 20 --minutes 10``, in Chromium on this machine.

Each page is that of a user with a browser context of their own: it opens a link, does a few things (types, opens a
section, presses a slider, goes to another page, back, opens it again), leaves, and comes again, some as who was here
before and some for the first time. Prints what went wrong (errors in the console, exceptions on the page, requests to
another machine, tracebacks in the server's log) and the server's memory over time; the exit status says whether there
were no errors and whether memory stayed where it was.
"""

import argparse
import asyncio
import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, cast

from playwright.async_api import Browser, BrowserContext, Page, async_playwright
from playwright.async_api import Error as PlaywrightError

from bench.load.__main__ import GROWTH, server, told_by
from bench.load.visitor import PATHS, WORDS
from bench.load.watch import Watch
from tests.browser.drive import FLAGS, MISSING, WIDE, address, find_browser
from tests.browser.drive import Watch as Seen

THINK = 1.0, 5.0
"""Seconds between two things that a user does, from and to."""
STAYS, RETURNS = 6, 0.5
"""Things that a user does at most before leaving; of those who come again, how many as who was here before."""
PATIENCE = 180.0
"""Timeout in seconds for every browser action: all browsers share this machine with the server."""
DETACHED = "not attached"
"""The browser's error if a run has removed the element to be pressed: no user could press it then."""
STEADY = 300.0
"""Seconds after which memory is judged: what comes before is warming up."""
SETTLED_APP = "[data-testid=stApp][data-test-connection-state=CONNECTED][data-test-script-state=notRunning]"
SEND_DELAY = 250
"""Milliseconds until a page has sent its change."""
PLACES = {
    "section": ".st-key-section [role=radio]",
    "slider": "input[type=range]",
    "page": "[data-testid=stSidebar] a[href]",
    "switch": "[data-testid=stMain] [role=radio]",
    "footer": "[data-testid=stMain] [class*=st-key-_footer_] button",
}
"""Elements that are pressed, by kind."""


@dataclass
class Churn:
    """The result of a churn."""

    counts: Counter[str] = field(default_factory=Counter)
    errors: list[str] = field(default_factory=list)
    watch: Watch | None = None
    cache_sizes: list[float] = field(default_factory=list)
    """MB of results that the server keeps to show again, up to a bound: a third into the time, and at its end."""

    def missed_goals(self, seconds: float) -> list[str]:
        """The goals that were not reached."""
        missed_goals = [f"{len(self.errors)} errors"] if self.errors or not self.counts else []
        if self.watch and seconds >= STEADY and self.watch.growth() >= GROWTH:
            missed_goals.append(f"{self.watch.growth():.1f} MB of growth")
        return missed_goals


@dataclass
class Guest:
    """One who comes and goes."""

    churn: Churn
    browser: Browser
    url: str
    chance: random.Random
    doing: str = ""
    """The action and its page, for error messages."""

    async def stay(self, seconds: float) -> None:
        """Come and go until the time is over."""
        until = time.monotonic() + seconds
        context, console = await self._arrive()
        while time.monotonic() < until:
            if self.chance.random() > RETURNS:
                await context.close()
                context, console = await self._arrive()
            try:
                page = await context.new_page()
                await self._visit(page, until)
                await page.close()
            except PlaywrightError as error:
                self.churn.errors.append(f"{self.doing}: {str(error).splitlines()[0]}")
            self.churn.errors += [*console.errors, *console.elsewhere]
            console.forget()
        await context.close()

    async def _arrive(self) -> tuple[BrowserContext, Seen]:
        """A new browser context, and its errors."""
        self.churn.counts["come"] += 1
        context = await self.browser.new_context(viewport={"width": WIDE[0], "height": WIDE[1]}, locale="en-US")
        console = Seen()
        console.follow(cast(Any, context))
        return context, console

    async def _visit(self, page: Page, until: float) -> None:
        page.set_default_timeout(PATIENCE * 1000)
        page.on("dialog", lambda dialog: dialog.accept())
        link = {"text": self._sentence()} if self.chance.random() < 0.5 else {}
        path = self.chance.choice(list(PATHS))
        self.doing = f"open {path}"
        await page.goto(address(self.url, path, **link))
        await self._settle(page, "open")
        for _ in range(self.chance.randint(1, STAYS)):
            await asyncio.sleep(self.chance.uniform(*THINK))
            if time.monotonic() > until:
                return
            kind = self.chance.choice([*PLACES, "text", "text", "reload", "back"])
            self.doing = f"{kind} on {page.url.removeprefix(self.url)[:100]}"
            await self._act(page, kind)
            await self._settle(page, kind)

    async def _act(self, page: Page, kind: str) -> None:
        if kind == "reload":
            await page.reload()
        elif kind == "back":
            await page.go_back()
        elif kind == "text":
            box = page.locator(".st-key-text textarea")
            if await box.count():
                await box.fill(self._sentence())
                await box.press("Control+Enter")
        else:
            key = self.chance.choice(("ArrowRight", "ArrowLeft")) if kind == "slider" else "Enter"
            if elements := await page.locator(PLACES[kind]).filter(visible=True).element_handles():
                try:
                    await self.chance.choice(elements).press(key)
                except PlaywrightError as error:
                    if DETACHED not in str(error):
                        raise
                    self.churn.counts["gone"] += 1

    async def _settle(self, page: Page, kind: str) -> None:
        if page.url == "about:blank":  # back, to before the first page
            return
        await page.wait_for_timeout(SEND_DELAY)
        await page.locator(SETTLED_APP).wait_for(state="attached")
        self.churn.counts[kind] += 1
        for box in await page.get_by_test_id("stException").all_inner_texts():
            self.churn.errors.append(f"{kind}: {box[:200]}")

    def _sentence(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=self.chance.randint(5, 14))) + "."


async def run(churn: Churn, url: str, pid: int, *, pages: int, seconds: float, seed: int = 0) -> None:
    """Let them come and go, and note what happens."""
    churn.watch = Watch(pid)
    watching = asyncio.create_task(churn.watch.follow())
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        noting = asyncio.create_task(_note_kept(churn, url, seconds / 3))
        guests = [Guest(churn, browser, url, random.Random(f"{seed}/{number}")) for number in range(pages)]
        await asyncio.gather(*(guest.stay(seconds) for guest in guests))
        await noting
        churn.cache_sizes.append(await asyncio.to_thread(told_by, url, "kept"))
        await browser.close()
    watching.cancel()


async def _note_kept(churn: Churn, url: str, after: float) -> None:
    await asyncio.sleep(after)
    churn.cache_sizes.append(await asyncio.to_thread(told_by, url, "kept"))


def report(churn: Churn, seconds: float) -> list[str]:
    """The lines that are printed."""
    assert churn.watch is not None
    missed_goals = churn.missed_goals(seconds)
    return [
        ", ".join(f"{kind} {n}" for kind, n in sorted(churn.counts.items())),
        *(f"  {n} x {error[:300]}" for error, n in Counter(churn.errors).most_common(20)),
        "memory of the server: " + ", ".join(f"{size:.0f} MB at {at:.0f} s" for at, size in churn.watch.curve()),
        f"  at most {churn.watch.most:.0f} MB; {churn.watch.growth():+.1f} MB over the last two thirds; "
        f"results kept: {' MB, then '.join(f'{size:.0f}' for size in churn.cache_sizes)} MB",
        "every goal reached" if not missed_goals else "MISSED: " + ", ".join(missed_goals),
    ]


def main() -> int:
    """Run, report, and say whether the goals were met."""
    parser = argparse.ArgumentParser(prog="python -m bench.load.churn", description=__doc__)
    parser.add_argument("--pages", type=int, default=20, help="open at once, 1 to 50")
    parser.add_argument("--minutes", type=float, default=10.0, help="up to 30")
    parser.add_argument("--seed", type=int, default=0, help="of all that visitors do")
    options = parser.parse_args()
    if not (1 <= options.pages <= 50 and 0 < options.minutes <= 30):
        parser.error("1 to 50 pages, up to 30 minutes")
    if find_browser() is None:
        parser.error(MISSING)
    churn, seconds = Churn(), options.minutes * 60
    print(f"{options.pages} pages, {seconds:.0f} s", flush=True)  # noqa: T201
    with server("", options.pages, churn.errors) as (url, pid):
        assert pid is not None
        asyncio.run(run(churn, url, pid, pages=options.pages, seconds=seconds, seed=options.seed))
    for line in report(churn, seconds):
        print(line)  # noqa: T201
    return 1 if churn.missed_goals(seconds) else 0


if __name__ == "__main__":
    sys.exit(main())
