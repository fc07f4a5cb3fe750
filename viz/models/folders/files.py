"""The files of a model's folder, read or refused in a sentence."""

import json
import re
from pathlib import Path
from typing import Any

from viz.errors import ModelError
from viz.models.registry import Entry


def corrupt(entry: Entry, reason: object) -> ModelError:
    """Damaged files fail in many ways; all mean the same to a user. The first line of why is enough.

    Where the files lie on the server is nobody's business.
    """
    lines = re.sub(r"(/[^/\s'\"]*)+/", "", str(reason)).splitlines()
    return ModelError("corrupt", model=entry.id, reason=lines[0][:120] if lines else type(reason).__name__)


def read_if_object(file: Path) -> dict[str, Any]:
    """Return the object in a JSON file; an empty one if there is none."""
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}


def read_json(entry: Entry, file: Path) -> dict[str, Any]:
    """An object out of a JSON file; ModelError "missing" or "corrupt" if there is none."""
    if not file.is_file():
        raise ModelError("missing", model=entry.id, file=file.name)
    try:
        content = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise corrupt(entry, f"{file.name}: {error}") from error
    if not isinstance(content, dict):
        raise corrupt(entry, f"{file.name}: not an object")
    return content
