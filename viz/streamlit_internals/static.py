"""Streamlit's static files: its page and the parts of it."""

import re
from pathlib import Path

import streamlit

STATIC = Path(streamlit.__file__).with_name("static")


def index_page() -> str:
    """Return the HTML page that starts Streamlit in a browser."""
    return (STATIC / "index.html").read_text("utf8")


def static_files() -> frozenset[str]:
    """Return Streamlit's files whose names hold a hash of their content, as in "static/js/..."."""
    files = (file.relative_to(STATIC).as_posix() for file in (STATIC / "static").rglob("*") if file.is_file())
    return frozenset(file for file in files if re.search(r"\.[\w-]{8}\.\w+$", file))
