"""Citations of published numbers, in each language."""

import re

_IN_CHINESE = (
    (r"^trained by this project: (.+)$", r"由本项目训练：\1"),
    (r" et al\. (\d{4}\w?)", r" 等 \1"),
    (r", table (\d+)", r"，表 \1"),
    (r", sec\. (\d+)", r"，第 \1 节"),
    (r"config\.json of (\S+)", r"\1 的 config.json"),
    (r"Gemma Team", "Gemma 团队"),
    (r"; ", "；"),
)


def translate_source(lang: str, source: str) -> str:
    """Return a source of ``assets/presets.toml`` in a language."""
    for pattern, replacement in _IN_CHINESE * (lang == "zh"):
        source = re.sub(pattern, replacement, source)
    return source
