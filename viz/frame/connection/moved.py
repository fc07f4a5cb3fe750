"""Sections of earlier versions that are parts of others now: redirects for their links.

They are listed in ``pages/moved_sections.toml``: under page and section of before, the section of now, the ``page`` it
is on if that is another, the ``parameters`` that show there what was asked for, and as ``asked`` what a link that names
no section carries if it means this one: "name" or "name=value".
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

from viz import ROOT

FILE = ROOT / "pages" / "moved_sections.toml"


@dataclass(frozen=True, kw_only=True)
class NewPlace:
    """The new place of a section. ``page`` is empty if it is unchanged."""

    section: str
    page: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)
    asked: tuple[str, ...] = ()


@cache
def moved_sections() -> Mapping[str, Mapping[str, NewPlace]]:
    """Return all sections that have moved, by the page and the name they had."""
    table = tomllib.loads(FILE.read_text(encoding="utf-8"))
    return {page: {name: NewPlace(**where) for name, where in sections.items()} for page, sections in table.items()}


def where_now(page: str, link: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """Return the page and the parameters of a link in today's names. One to a section that is there stays as it is.

    What the link asks for itself goes before what shows the section of before.
    """
    sections = moved_sections().get(page, {})
    before = link["section"] if "section" in link else next((n for n, m in sections.items() if _means(link, m)), "")
    target = sections.get(before)
    if target is None:
        return page, dict(link)
    rest = {name: value for name, value in link.items() if f"{name}={value}" not in target.asked}
    return target.page or page, {**target.parameters, **rest, "section": target.section}


def _means(link: Mapping[str, str], target: NewPlace) -> bool:
    """Return True if a link that names no section carries what belongs to one of before."""
    return any(name in target.asked or f"{name}={value}" in target.asked for name, value in link.items())
