"""Every word on the screen, in English and Chinese: ``en.toml`` and ``zh.toml`` hold the same keys."""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

LANGUAGES = MappingProxyType({"en": "English", "zh": "中文"})
Translate = Callable[..., str]


@cache
def sentences(lang: str) -> Mapping[str, str]:
    """All texts of a language, by dotted key."""
    with (Path(__file__).parent / f"{lang}.toml").open("rb") as file:
        return MappingProxyType(_flatten(tomllib.load(file), ""))


def _flatten(table: Mapping[str, Any], prefix: str) -> dict[str, str]:
    flat: dict[str, str] = {}
    for key, value in table.items():
        flat |= _flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {prefix + key: value.strip()}
    return flat


def translator(lang: str) -> Translate:
    """The function pages call ``t``: ``t("heads.title")``, ``t("sidebar.dropped", n=3)``.

    A key that does not exist is an error: nothing is shown untranslated.
    """
    table = sentences(lang)

    def t(key: str, /, **values: Any) -> str:
        return table[key].format(**values) if values else table[key]

    return t
