"""Random actions on a page, each compared with a fresh browser on the same link: ``python -m tools.random_walk``.

Controls, views, texts, sections and Back; also double clicks, a second action or another page while the first one runs,
connections that are cut, and a tab that sleeps. Prints every action after which the two screens differ; the exit status
says whether there was one.
"""

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, BrowserContext, Error, Locator, Page, ViewportSize, sync_playwright

from pages import PAGES
from tests.browser.drive import FLAGS, PATIENCE, ROOT, address, find_browser, listen, serve, wait_run
from tests.browser.proxy import Proxy
from viz.frame.sidebar import path_of
from viz.text import translator

SCREEN: ViewportSize = {"width": 1280, "height": 900}
TEXTS = (
    "The cat sat on the mat because it was warm.",
    "sun moon",
    "狗追猫，因为它很快。",
    "a",
    "one two three four five",
)
APART = (
    '[class*="st-key-_footer_"], [class*="st-key-share"], .take-away, .st-key-neighbours, .stFileUploader, '
    ".st-key-learn, .st-key-atlas_compute, .st-key-lesson_place, .st-key-way_out"
)
"""Controls whose state is no part of a link, or that begin to compute for seconds."""
CONTROLS = {
    "choice": ".stMain [role=radio]:not([aria-checked=true]):not([disabled])",
    "switch": ".stMain .stCheckbox label",
    "option": ".stMain .stRadio label",
    "slider": ".stMain .stSlider input[type=range]",
    "button": ".stMain .stButton button:not([disabled])",
    "view": ".stMain .stBidiComponent :is(button, [role=button], .thumb, .token, .cell, canvas)",
    "list": ".stMain .stSelectbox",
    "number": ".stMain .stNumberInput input",
}
PLAIN = (*CONTROLS, "text", "section", "back")
INTERRUPTIONS = ("two", "leave", "cut", "sleep")
"""Kinds of actions that begin with a plain one, and do not wait for the app's answer."""
KINDS = (*PLAIN, *CONTROLS, *INTERRUPTIONS)
DOUBLE = 0.15
"""Of the clicks, the share that are double."""
NAPS = (0.5, 6.0)
"""Seconds of a tab's sleep: its session is there still, or has expired (``SETTINGS``)."""
SETTINGS = {"STREAMLIT_SERVER_DISCONNECTED_SESSION_TTL": "3"}
WITHIN_RUN = (0, 20, 100, 300)
"""Milliseconds after an action at which another follows: before its run begins, or in the middle of it."""
READ = """() => {
    const apart = '[class*="st-key-_footer_"], .st-key-share_view, .st-key-neighbours, [class*="st-key-waiting"]';
    const lines = [];
    const read = (root) => {
        for (const node of root.childNodes) {
            const text = node.nodeType === Node.TEXT_NODE && node.data.trim().replace(/\\s+/g, " ");
            if (text) lines.push(text);
            if (!(node instanceof Element) || node.matches(`style, script, ${apart}`)) continue;
            if (!node.checkVisibility() && !node.shadowRoot) continue;
            if (node.matches("input, textarea")) lines.push(`${node.ariaLabel ?? ""}=${node.value}`);
            if (node.matches("[aria-checked=true], [aria-selected=true]")) lines.push("✓");
            const tables = node.shadowRoot?.view?.asTables;
            if (tables) try { lines.push(JSON.stringify(node.shadowRoot.view.asTables())); } catch {}
            if (node.shadowRoot) read(node.shadowRoot);
            read(node);
        }
    };
    read(document.querySelector(".stMain"));
    return lines;
}"""
"""All that is written on a page, with the values of its controls and the numbers of its pictures."""


@dataclass(frozen=True)
class Mismatch:
    """An action after which the screen is another than a fresh browser's on the same link."""

    page: str
    action: str
    link: str
    screen: tuple[str, ...]
    fresh: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.page}: after {self.action}, {self.link}\n  here:  {self.screen}\n  fresh: {self.fresh}"


class Walk:
    """A page that is acted upon, and a browser of its own for each look.

    Args:
        browser: both pages are opened in it, in contexts of their own.
        url: of the server.
        name: of the page.
        seed: of everything that is done.
        kinds: of actions, to be chosen from; one that is there twice is chosen twice as often.
    """

    def __init__(self, browser: Browser, url: str, name: str, seed: int, kinds: Sequence[str] = KINDS) -> None:
        self.kinds = kinds
        self.url, self.name, self.chance = url, name, random.Random(f"{seed}/{name}")
        self.proxy = Proxy(url)
        self.walk_context = self._context(browser)
        self.fresh = self._context(browser)
        self.page = listen(self.walk_context.new_page())
        self._open(self.page, address(self.proxy.url, path_of(name), lang="en"))

    @staticmethod
    def _context(browser: Browser) -> BrowserContext:
        context = browser.new_context(viewport=SCREEN, locale="en-US")
        context.set_default_timeout(PATIENCE)
        return context

    @staticmethod
    def _open(page: Page, link: str) -> None:
        page.goto(link)
        wait_run(page)

    def steps(self, n: int) -> Iterator[Mismatch | None]:
        """Act, and look each time."""
        for _ in range(n):
            action = self._act()
            try:
                wait_run(self.page)
            except (AssertionError, Error) as error:
                yield Mismatch(self.name, action, self.page.url, tuple(str(error).splitlines()[:1]), ())
                self._open(self.page, self.page.url)
            else:
                yield self._compare(action)

    def close(self) -> None:
        """Close both."""
        self.walk_context.close()
        self.fresh.close()
        self.proxy.close()

    def _act(self) -> str:
        return self._do_first(self.chance.sample(self.kinds, len(self.kinds)))

    def _do_first(self, kinds: Sequence[str]) -> str:
        for kind in kinds:
            try:
                if description := self._do(kind):
                    return description
            except Error as error:  # it has gone meanwhile, or something lies over it on purpose
                self.page.keyboard.press("Escape")
                return f"{kind} failed: {str(error).splitlines()[0]}"
        return "nothing"

    def _act_plainly(self) -> str:
        return self._do_first(self.chance.sample(PLAIN, len(PLAIN)))

    def _act_twice(self) -> str:
        """Do something, and something else while the app is at work."""
        first = self._act_plainly()
        self.page.wait_for_timeout(pause := self.chance.choice(WITHIN_RUN))
        return f"{first}, after {pause} ms {self._act_plainly()}"

    def _leave(self) -> str:
        """Choose another page while the app is at work, and come back before that one is there."""
        navigation = self.page.get_by_test_id("stSidebarNav")
        link_back, link_away = (
            navigation.get_by_text(translator("en")(f"{name}.title"), exact=True)
            for name in (self.name, self.chance.choice([name for name in PAGES if name != self.name]))
        )
        if not link_back.is_visible():
            return ""
        first = self._act_plainly()
        pauses = [self.chance.choice(WITHIN_RUN) for _ in range(2)]
        for link, pause in zip((link_away, link_back), pauses, strict=True):
            self.page.wait_for_timeout(pause)
            link.click(timeout=10_000)
        return f"{first}, after {pauses} ms another page and back"

    def _cut(self) -> str:
        """Cut the connection while the app is at work."""
        first = self._act_plainly()
        self.page.wait_for_timeout(pause := self.chance.choice(WITHIN_RUN))
        abort = self.chance.random() < 0.5
        with self.page.expect_websocket(timeout=PATIENCE):
            self.proxy.cut(abort=abort)
        return f"{first}, after {pause} ms a connection {'reset' if abort else 'closed'}"

    def _sleep(self) -> str:
        """Stop the tab while the app is at work; its connection ends meanwhile, and its session perhaps."""
        first, nap = self._act_plainly(), self.chance.choice(NAPS)
        tab = self.page.context.new_cdp_session(self.page)
        tab.send("Debugger.enable")  # a page that a window shows cannot be frozen, but stopped as by a breakpoint
        self.page.evaluate("() => void setTimeout(() => { debugger; })")
        self.proxy.cut(abort=False)
        time.sleep(nap)
        with self.page.expect_websocket(timeout=PATIENCE):
            tab.send("Debugger.resume")
        tab.detach()
        return f"{first}, then {nap} s asleep"

    def _do(self, kind: str) -> str:
        apart = {
            **{"text": self._type, "back": self._go_back},
            **{"two": self._act_twice, "leave": self._leave, "cut": self._cut, "sleep": self._sleep},
        }
        if kind in apart:
            return apart[kind]()
        if kind == "section":
            controls = self.page.locator(".st-key-section [role=radio]:not([aria-checked=true])")
        else:
            controls = self.page.locator(CONTROLS[kind])
        usable = [
            control
            for control in controls.all()
            if control.is_visible() and not control.evaluate(f"(e) => e.closest('{APART}')")
        ]
        if not usable:
            return ""
        control = self.chance.choice(usable)
        label = control.evaluate("(e) => (e.ariaLabel || e.textContent || e.className || '').trim().slice(0, 40)")
        return f"{kind} “{label}”{self._use(kind, control)}"

    def _use(self, kind: str, control: Locator) -> str:
        """Use a control; say so if it was a double click."""
        is_double = False
        if kind == "slider":
            control.focus()
            for _ in range(self.chance.randint(1, 3)):
                self.page.keyboard.press(self.chance.choice(("ArrowLeft", "ArrowRight")))
        elif kind == "number":
            control.fill(str(self.chance.randint(1, 9)))
            self.page.keyboard.press("Enter")
        elif kind == "list":
            control.locator("input").click()
            options = self.page.locator("[role=option]").all()
            self.chance.choice(options).click() if options else self.page.keyboard.press("Escape")
        else:
            is_double = self.chance.random() < DOUBLE
            control.click(timeout=3_000, click_count=1 + is_double)
        self.page.mouse.move(2, 2)
        return ", a double click" * is_double

    def _go_back(self) -> str:
        self.page.go_back()
        if path_of(self.name) not in self.page.url:
            self.page.go_forward()
        return "Back"

    def _type(self) -> str:
        box = self.page.locator(".st-key-text textarea")
        if not box.count():
            return ""
        box.fill(self.chance.choice(TEXTS))
        box.press("Control+Enter")
        return "text"

    def _compare(self, action: str) -> Mismatch | None:
        link, fresh_page = "", listen(self.fresh.new_page())
        try:
            for _ in range(40):  # a view draws what it was given in the frame after
                if self.page.url != link:  # what was moved last may reach the app, and the link, later
                    link = self.page.url
                    self._open(fresh_page, link.replace(self.proxy.url, self.url))
                screen, fresh = (tuple(page.evaluate(READ)) for page in (self.page, fresh_page))
                if screen == fresh:
                    return None
                self.page.wait_for_timeout(100)
        finally:
            fresh_page.close()
        return Mismatch(self.name, action, link, _only(screen, fresh), _only(fresh, screen))


def _only(some: tuple[str, ...], excluded: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(line[:200] for line in some if line not in excluded)[:6]


def main() -> None:
    """Walk over the pages that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", nargs="*", default=list(PAGES))
    parser.add_argument("--actions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    n_wrong = 0
    with (
        tempfile.TemporaryDirectory() as folder,
        serve(ROOT / "app.py", Path(folder) / "log.txt", **SETTINGS) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=find_browser(), args=list(FLAGS))
        for name in options.pages:
            walk = Walk(browser, server.url, name, options.seed)
            n_before = n_wrong
            for mismatch in filter(None, walk.steps(options.actions)):
                n_wrong += 1
                print(mismatch, flush=True)  # noqa: T201
            walk.close()
            print(f"{name}: {n_wrong - n_before} of {options.actions}", flush=True)  # noqa: T201
        if "Traceback" in server.read_log():
            sys.stdout.write(server.read_log()[-3000:])
            n_wrong += 1
    sys.exit(bool(n_wrong))


if __name__ == "__main__":
    main()
