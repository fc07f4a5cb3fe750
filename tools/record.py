"""Record what every section sends: ``python -m tools.record [heads ...]``.

To be run where something shown is meant to change, and the difference to be read: a line of ``record.json`` is a
section with one setting, one of ``chinese.json`` has its words in Chinese.
"""

import json
import os
import sys
from pathlib import Path

# As in tests/conftest.py: a computation that comes late would be recorded as one.
os.environ |= {"HF_HUB_OFFLINE": "1", "HEADLIGHT_SECONDS": "600", "HEADLIGHT_WAIT": "600"}

import pytest
from streamlit.testing.v1 import AppTest

from pages import PAGES
from tests.running import OpenApp, opener
from tests.sections import link_to, views_of
from tests.shown.contents import Contents, Words, contents_of, from_json, to_json

RECORD = Path(__file__).parents[1] / "tests" / "shown" / "record.json"
CHINESE = RECORD.with_name("chinese.json")
"""The words of every place with the first setting in Chinese."""
SETTINGS: dict[str, dict[str, str]] = {
    "model": {
        "text": "The old cat sees a small bird because it sings.",
        "text_b": "The old cat sees a small bird because it sleeps.",
        "model": "all-MiniLM-L6-v2",
    },
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


def read_chinese() -> dict[str, Words]:
    """Read the words of each place in Chinese from their record."""
    return json.loads(CHINESE.read_text("utf8")) if CHINESE.exists() else {}


def write(path: Path, lines: dict[str, str]) -> None:
    """Write a record, with a line for each place that there is."""
    names = [name_of(*place) for place in PLACES]
    texts = [f"{json.dumps(name)}: {lines[name]}" for name in names if name in lines]
    path.write_text("{\n" + ",\n".join(texts) + "\n}\n", "utf8")


def main() -> None:
    """Open every place of some pages, or of all, and record what is sent."""
    pages, record, chinese = sys.argv[1:] or PAGES, read_record(), read_chinese()
    with pytest.MonkeyPatch.context() as patch:
        open_app = opener(patch)
        for place in PLACES:
            if place[0] in pages:
                record[name_of(*place)] = contents_of(open_place(open_app, *place))
        for place in PLACES[::2]:
            if place[0] in pages:
                contents = contents_of(open_place(open_app, *place, lang="zh"))
                chinese[name_of(*place)] = {key: words for key, (words, _) in contents.items()}
    write(RECORD, {name: to_json(contents) for name, contents in record.items()})
    write(CHINESE, {name: to_json(words) for name, words in chinese.items()})


if __name__ == "__main__":
    main()
