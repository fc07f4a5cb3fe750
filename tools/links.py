"""Record the results that the links of ``links.toml`` show: ``python -m tools.links``.

To be run where the numbers are meant to change, and the difference to be read: a line of ``record.json`` is a link.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from tests.links.shown import Digest, checks, digests_of
from tests.running import OpenApp, opener

FOLDER = Path(__file__).parents[1] / "tests" / "links"
RECORD = FOLDER / "record.json"
LINKS: list[dict[str, Any]] = tomllib.loads((FOLDER / "links.toml").read_text("utf8"))["link"]
ALL_SECTIONS = {"section": "all"}
"""A page with all its sections; a page that has none takes no notice."""


def name_of(link: dict[str, Any]) -> str:
    """A link as it is called in the record."""
    return f"{link['page']}?{'&'.join(f'{name}={value}' for name, value in link['parameters'].items())}"


def open_link(open_app: OpenApp, link: dict[str, Any], **changes: Any) -> AppTest:
    """The whole page a link leads to, with some parameters changed."""
    return open_app(link["page"], **{**link["parameters"], **ALL_SECTIONS, **changes})


def read_record() -> dict[str, tuple[tuple[int, int], list[Digest]]]:
    """Counts of checks that hold and fail, and digests of a page's numbers, for each link."""
    lines = json.loads(RECORD.read_text("utf8"))
    return {
        name: (
            (line["checks"][0], line["checks"][1]),
            [Digest(kind, tuple(shape), *numbers) for kind, shape, *numbers in line["shown"]],
        )
        for name, line in lines.items()
    }


def line_of(app: AppTest) -> str:
    """The results of a page on one line."""
    digests = [[digest_.kind, digest_.shape, *map(_short, digest_[2:])] for digest_ in digests_of(app)]
    return json.dumps({"checks": checks(app), "shown": digests}, ensure_ascii=False, separators=(",", ":"))


def _short(number: float) -> float | int:
    return int(number) if number == int(number) and abs(number) < 1e15 else number


def main() -> None:
    """Open every link and record its page's numbers."""
    with pytest.MonkeyPatch.context() as patch:
        open_app = opener(patch)
        lines = []
        for link in LINKS:
            app = open_link(open_app, link)
            assert not app.exception, (name_of(link), app.exception)
            lines.append(f"{json.dumps(name_of(link), ensure_ascii=False)}: {line_of(app)}")
    RECORD.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf8")


if __name__ == "__main__":
    main()
