"""The files that Streamlit sends a browser: its page, and what that asks for."""

import re
from functools import cache
from pathlib import Path

import streamlit

STATIC = Path(streamlit.__file__).with_name("static")
_ELEMENTS = ("ButtonGroup", "TextArea", "Selectbox", "BidiComponent", "Button", "PageLink", "Html")
"""What every page of the app shows and Streamlit's own page does not bring along, as its files are called."""

SENDS = "sendUpdateWidgetsMessage"
"""What tells the server which values controls have, by the name that it has in the code of Streamlit's page."""


def index_page() -> str:
    """The page that starts Streamlit in a browser."""
    return (STATIC / "index.html").read_text("utf8")


def static_files() -> frozenset[str]:
    """Streamlit's files whose names hold a hash of their content, as its page names them: "static/js/..."."""
    files = (file.relative_to(STATIC).as_posix() for file in (STATIC / "static").rglob("*") if file.is_file())
    return frozenset(file for file in files if re.search(r"\.[\w-]{8}\.\w+$", file))


@cache
def element_modules() -> tuple[str, ...]:
    """The modules of what every page shows, with all they import, less what Streamlit's own page names already."""
    scripts, named = STATIC / "static" / "js", index_page()
    found, coming = list[str](), [file.name for name in _ELEMENTS for file in scripts.glob(f"{name}.*.js")]
    while coming:
        name = coming.pop(0)
        if name not in found and name not in named:
            found.append(name)
            coming += re.findall(r'\b(?:import|from)"\./([^"]+\.js)"', (scripts / name).read_text("utf8"))
    return tuple(f"./static/js/{name}" for name in found)
