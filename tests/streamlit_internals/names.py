"""The private names of Streamlit, uvicorn and websockets that the program uses, read off its source."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.test_house import ROOT, SOURCES, nodes

PRIVATE = re.compile(r"streamlit\.(?!testing|delta_generator|logger|errors)|uvicorn\.|websockets\.")


def imported(path: Path) -> Iterator[str]:
    """The names that a file imports of private modules, as in "streamlit.runtime:Runtime"."""
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and PRIVATE.match(f"{node.module}."):
            for alias in node.names:
                if PRIVATE.match(f"{node.module}.{alias.name}") and not is_public(node.module, alias.name):
                    yield f"{node.module}:{alias.name}"
        elif isinstance(node, ast.Import):
            yield from (f"{alias.name}:" for alias in node.names if PRIVATE.match(alias.name))


def is_public(module: str | None, name: str) -> bool:
    """Return whether a name is of a package's public API."""
    return module == "streamlit" and name not in ("config", "runtime", "proto", "web", "elements")


def underscored(path: Path) -> set[str]:
    """The attributes with an underscore that a file reads of what is not its own."""
    names = set()
    for node in nodes(path):
        match node:
            case ast.Attribute(value=ast.Name(id="self" | "cls")):
                continue
            case (
                ast.Attribute(attr=name)
                | ast.Call(func=ast.Name(id="getattr"), args=[_, ast.Constant(value=str(name)), *_])
            ) if re.match(r"_(?!_)", name):
                names.add(name)
    return names


def module_of(path: Path) -> str:
    """The dotted name of a file's module."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imported_names() -> dict[str, list[str]]:
    """The names by the module that imports them; read when a test asks for them, as all programs are."""
    return {module_of(path): names for path in SOURCES if (names := sorted(set(imported(path))))}
