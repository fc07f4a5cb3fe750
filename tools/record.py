"""Record what every section sends: ``python -m tools.record [heads ...]``.

To be run where something shown is meant to change, and the difference to be read: a line of ``record.json`` is a
section with one setting.
"""

import json
import sys
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from pages import PAGES
from tests.running import OpenApp, opener
from tests.sections import link_to, views_of
from tests.shown.contents import Contents, contents_of, from_json, to_json

RECORD = Path(__file__).parents[1] / "tests" / "shown" / "record.json"
SETTINGS: dict[str, dict[str, str]] = {
    "model": {"text": "The old cat sees a small bird because it sings.", "model": "all-MiniLM-L6-v2"},
    "words": {
        "text": "the old cat sees a small bird",
        "source": "words",
        "n_kv_heads": "2",
        "mask": "causal",
        "off": "1",
    },
}
PLACES = [(page, view, setting) for page in PAGES for view in views_of(page) for setting in SETTINGS]


def open_place(open_app: OpenApp, page: str, view: str, setting: str, lang: str = "en") -> AppTest:
    """Open a section of a page, or a view of one, with a setting."""
    app = open_app(page, **link_to(page, view), **SETTINGS[setting], lang=lang)
    assert not app.exception, app.exception
    return app


def name_of(page: str, view: str, setting: str) -> str:
    """A place as the record calls it."""
    return f"{page}/{view} {setting}"


def read_record() -> dict[str, Contents]:
    """Read the contents of each place from the record."""
    lines = json.loads(RECORD.read_text("utf8")) if RECORD.exists() else {}
    return {name: from_json(line) for name, line in lines.items()}


def main() -> None:
    """Open every place of some pages, or of all, and record what is sent."""
    pages, record = sys.argv[1:] or PAGES, read_record()
    with pytest.MonkeyPatch.context() as patch:
        open_app = opener(patch)
        new = {name_of(*place): contents_of(open_place(open_app, *place)) for place in PLACES if place[0] in pages}
    names = [name_of(*place) for place in PLACES]
    lines = [f"{json.dumps(name)}: {to_json((record | new)[name])}" for name in names if name in record | new]
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf8")


if __name__ == "__main__":
    main()
