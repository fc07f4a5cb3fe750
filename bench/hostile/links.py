"""Hostile links and texts."""

import random
import re
import tomllib
from pathlib import Path

from tests.browser.drive import ROOT

STRINGS: dict[str, list[str]] = tomllib.loads(Path(__file__).with_name("strings.toml").read_text("utf8"))
ALL = [string for several in STRINGS.values() for string in several]
SMALL = {"source": "words", "d_model": "8", "n_heads": "2"}
DECLARATION = re.compile(r'(?:Int|Real|Choice|Flag|Text|Ints|TokenIndex)\(\s*"(\w+)"')
FRAME = ROOT / "viz" / "frame"
SOURCES = [*FRAME.glob("*.py"), *(FRAME / "header").glob("*.py"), *(ROOT / "pages").rglob("*.py")]
NAMES = sorted({name for path in SOURCES for name in DECLARATION.findall(path.read_text("utf8"))})
OTHER_NAMES = (
    "puzzle_only_one", "puzzle_previous", "puzzle_cancel", "own_at", "puzzle_at",  # made from a section's name
    "_link", "_choice", "_declared", "_refused", "_note", "embed", "embed_options", "", "__proto__", "text[]",
)  # fmt: skip
VALUES = (
    "", " ", "0", "1", "2", "3", "5", "8", "12", "-1", "99", "1e3", "1e999", "NaN", "-inf", "0x10", "١", "1_0", "None",
    "true", "en", "zh", "model", "words", "embeddings", "own", "causal", "window", "prefix", "painted", "scores",
    "gpt2", "all-MiniLM-L6-v2", "0-1-2", "-", "--", "1-", "0.5-0.25", "a" * 10_000, "9" * 5_000, "[]", "{}", "../..",
)  # fmt: skip
QUICK = ("step-by-step", "heads")
"""Pages drawn in 30 ms: most of the random links go there, 4 to each of the others."""


def a_link(chance: random.Random) -> dict[str, str]:
    """Return a random link of valid and invalid names and values, mostly with small sizes."""
    link = SMALL | {"text": chance.choice(ALL)} if chance.random() < 0.9 else {}
    for name in chance.sample([*NAMES, *OTHER_NAMES], chance.choice((1, 5, 30))):
        link[name] = chance.choice((*VALUES, chance.choice(ALL), str(chance.randint(0, 40))))
    return link
