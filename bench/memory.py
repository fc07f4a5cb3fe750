"""Memory of each section for a text of 512 tokens: ``python -m bench.memory``.

What is computed in turn counts against the ceiling before it begins (``viz.limits.PASS_BYTES``); what a page's script
computes beside that does not, so it must stay small. Both are given, the largest first.
"""

import contextlib
import ctypes
import gc
import random
import sys
import threading
import time

from pytest import MonkeyPatch

from bench.load.visitor import WORDS
from tests.running import opener
from tests.sections import SECTIONS
from viz.frame.queue_notice import results, stores
from viz.scheduler.ceiling import resident

TOKENS = 600
"""Words: more than 512 tokens, all of which are read."""


class Peak:
    """The most this process took while something was computed in turn, and while nothing was."""

    def __init__(self) -> None:
        gc.collect()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        self.before = self.in_turn = self.beside = resident()
        self.is_over = threading.Event()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while not self.is_over.wait(0.01):
            if stores().turns.working:
                self.in_turn = max(self.in_turn, resident())
            else:
                self.beside = max(self.beside, resident())


def main() -> None:
    """Open every section and print what it took."""
    rng, rows, patched = random.Random(0), list[tuple[float, float, str, float, str]](), MonkeyPatch()
    open_app = opener(patched)
    for page, section in SECTIONS:
        results().shrink(float("inf"))
        peak, began = Peak(), time.monotonic()
        app = open_app(page, section=section, text=" ".join(rng.choice(WORDS) for _ in range(TOKENS)))
        peak.is_over.set()
        wrong = "an exception" if app.exception else ""
        beside, in_turn = ((most - peak.before) / 1e6 for most in (peak.beside, peak.in_turn))
        rows.append((beside, in_turn, f"{page}/{section}", time.monotonic() - began, wrong))
    patched.undo()
    sys.stdout.write("MB beside  in turn  seconds\n")
    for beside, in_turn, place, seconds, wrong in sorted(rows, reverse=True):
        sys.stdout.write(f"{beside:9.0f} {in_turn:8.0f} {seconds:8.1f}  {place}  {wrong}\n")


if __name__ == "__main__":
    main()
