"""Style and images of every page, read from the disk once and not in every run."""

import re
from base64 import b64encode
from functools import cache

from viz import ASSETS
from viz.components.bundle import CLIENT, join_modules


@cache
def picture(name: str) -> str:
    """A small PNG as an address that holds it: a file Streamlit would decode and hash in every run."""
    return f"data:image/png;base64,{b64encode((ASSETS / name).read_bytes()).decode()}"


@cache
def style(name: str) -> str:
    """A style sheet as an element: in one line, since Streamlit looks at every line in every run, without comments.

    It is sent with each visit: so the spaces around braces and semicolons go, too. No string of a sheet holds one.
    """
    rules = re.sub(r"/\*.*?\*/", "", (ASSETS / name).read_text("utf8"), flags=re.DOTALL)
    line = re.sub(r" ?([{};]) ?", r"\1", " ".join(rules.split()))
    return f"<style>{line}</style>"


@cache
def translator_script() -> str:
    """Return the script that has translated text follow the app's updates; it must run before anything is rendered."""
    return join_modules(CLIENT / "frame" / "translated.js")
