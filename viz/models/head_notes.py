"""Notes on single heads of a model, and warnings against reading too much into them (``head_notes.toml``)."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Note:
    """A warning or a finding about one head, by language, and examples that show or break it."""

    text: dict[str, str]
    examples: tuple[str, ...]


@cache
def _notes() -> dict[tuple[str, int, int], Note]:
    with (Path(__file__).parent / "head_notes.toml").open("rb") as file:
        return {
            (note["model"], note["layer"], note["head"]): Note(
                text={lang: note[lang] for lang in ("en", "zh")}, examples=tuple(note["try"])
            )
            for note in tomllib.load(file)["note"]
        }


def note(model: str, layer: int, head: int) -> Note | None:
    """The note on a head, if there is one; seeded heads (no model) have none."""
    return _notes().get((model, layer, head))
