"""The calls that a changed text on Heads causes, and a rerun: ``python -m tools.calls`` prints files, calls, calls."""

import sys
import threading
from collections import Counter
from pathlib import Path
from types import FrameType

import pytest

from tests.running import opener

OURS = tuple(str(Path(__file__).parents[1] / folder) for folder in ("viz", "pages", "app.py"))


TEXTS = ("A cat sat on the red mat and slept.", "The dog ran after the ball because it was fast.")
"""The first makes what a user waits for once; the second is measured."""


def main() -> None:
    """Open Heads, change the text, and run it once more; count the calls of functions of ours in every thread.

    Comprehensions are no calls: Python 3.12 has no frame for them any more.
    """
    calls: Counter[str] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        code = frame.f_code
        is_function = not code.co_name.startswith("<") or code.co_name == "<lambda>"
        if event == "call" and is_function and code.co_filename.startswith(OURS):
            calls[code.co_filename] += 1

    with pytest.MonkeyPatch.context() as patch:
        app = opener(patch)("heads")
        threading.setprofile(note)
        for text in TEXTS:
            calls.clear()
            app.text_area(key="text").set_value(text).run()
        after_text = dict(calls)
        calls.clear()
        app.run()
    sys.stdout.write(f"{len(after_text)} {sum(after_text.values())} {calls.total()}\n")


if __name__ == "__main__":
    main()
