"""Rules of wording that a machine can check: every text of every page, in both languages."""

import ast
import math
import random
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

import pytest

from viz import ASSETS, ROOT
from viz.frame.format import at_most
from viz.text import LANGUAGES, PLURAL, _flatten, fill, sources, translator

DATA = (
    ROOT / "viz" / "models" / "registry.toml",
    ROOT / "viz" / "models" / "head_notes.toml",
    ROOT / "viz" / "text" / "glossary.toml",
    ASSETS / "examples.toml",
    ASSETS / "pairs.toml",
)
"""Other places of texts: below ``why`` or by themselves, one for each language."""

REPLACED = {
    "en": {
        "What leaves the head": "The head's output",
        r"as it is \(no mask added\)": "none (the model's own)",
        r"square root\)": "stronger colour = more attention",
        "is its square root": "stronger colour = more attention",
        "seeded head": "untrained heads",
        "Where the numbers come from": "Model",
        "brings along": "The head's three weight matrices",
        "then distrust": "Does a large weight matter?",
        "Take the numbers with you": "Download",
        "The camera on each figure": "Image format",
        "Turn round": "Invert",
        "out loud": "say it plainly",
        "drown": "say it plainly",
        "newcomer": "the new token",
        "who asks": "the word that looks (query)",
        "who is asked": "the word it looks at (key)",
        "asks ↓": "looks ↓",
        "answers →": "is looked at →",
    },
    "zh": {
        "从头里出来": "这个头的输出",
        "向前(?!文)": "前文、后文",
        "向后(?!文)": "前文、后文",
        "往前(?!文)": "前文、后文",
        "往后(?!文)": "前文、后文",
        "问的是谁": "被看的词",
        "谁在问": "在看的词",
        "（问谁）": "被看的词",
        "谁问 ↓": "在看 ↓",
        "谁答 →": "被看 →",
        "碎片": "子词",
        "实际送到": "占实际贡献的比例",
        "自带的矩阵": "这个头的三个权重矩阵",
        "弄坏": "改错试试",
        "全部成立": "实时校验：3 项全部通过",
        "数字带走": "导出数据",
        "数字从哪里来": "数据来源",
        "种子的头": "随机初始化的头",
        "凑数": "填充词元",
        "人人可看": "前缀双向可见，其余单向",
        "挡": "屏蔽",
        "涂": "绘制",
        "变暗": "削弱对过去的注意力",
        "成为卷积的": "注意力也能做卷积",
        "转动 α": "拖动 α",
        "架在你的词上": "句子上的滑动窗口",
        "当场学会": "现场训练",
        "二次编码": "二次偏置",
        "代价是多少": "计算开销",
        "拆开来数": "逐项统计",
        "分数": "得分",
        "键值头": "键/值头",
        "K/V 头": "键/值头",
        "膨胀": "空洞",
        "双胞胎": "孪生",
        "全变差": "总变差",
        "询问": "查询",
        r"et al\.": "等",
    },
}
"""Words that were replaced everywhere, as patterns, and by what: they do not come back."""

CHINESE = r"\u3400-\u9fff，。：；！？、（）“”《》…"
HALF_WIDTH = re.compile(
    rf"[{CHINESE}](?:[,;:!?)\"]|\.(?!\w))|[\u3400-\u9fff]\((?!\w+\()|(?<![A-Za-zα-ω0-9_)])[,;:!?(\"][{CHINESE}]"
)
LATIN = re.compile(r"(?<![（(\w])\b(?:query|queries|key|keys|head|heads|token|tokens)\b(?![\w）)])", re.IGNORECASE)
KINDS = "query|key/value|random|cached|trained|small|other|more|clock"
NOUNS = (
    "heads|layers|tokens|words|rows|columns|keys|queries|cells|numbers|positions|pairs|places|seconds|characters"
    "|models|computations|clocks|hands|weights|passes|blocks|steps|values|sets"
)
COUNTED_NOUN = re.compile(rf"(?<![×=] )\{{(\w+)\}} (?:(?:{KINDS}) )*(?:{NOUNS})\b")
PLACEHOLDER = re.compile(r"\{[^{}]*\}")
CODE = re.compile(r"`[^`]*`|\$[^$]*\$")


@cache
def texts(lang: str) -> tuple[tuple[str, str, str], ...]:
    """Every text of a language, with its file and its key."""
    entries = []
    for path in sources(lang):
        flat = _flatten(tomllib.loads(path.read_text("utf8")), "")
        entries += [(path.relative_to(ROOT).as_posix(), key, text) for key, text in flat.items()]
    for path in DATA:
        for entry in next(iter(tomllib.loads(path.read_text("utf8")).values())):
            name = str(entry.get("code") or entry.get("id") or f"{entry['layer']}.{entry['head']}")
            sentence = entry.get("why", entry)[lang]
            of_term = [sentence["name"], sentence["says"]] if isinstance(sentence, dict) else [sentence]
            entries += [(path.relative_to(ROOT).as_posix(), name, text) for text in of_term]
    for path in sorted((ASSETS / "lessons").glob("*.toml")):
        said_in = of_lesson(tomllib.loads(path.read_text("utf8")), lang, "")
        entries += [(path.relative_to(ROOT).as_posix(), name, text) for name, text in said_in]
    return tuple(entries)


def of_lesson(part: Any, lang: str, name: str) -> Iterator[tuple[str, str]]:
    """The texts below a part of a lesson's file; what is read on the page is no sentence of ours."""
    if isinstance(part, dict) and set(part) == set(LANGUAGES) and isinstance(part[lang], str):
        yield name, part[lang]
    elif isinstance(part, dict):
        for below in set(part) - {"parameters", "arguments", "before"}:
            yield from of_lesson(part[below], lang, f"{name}.{below}".removeprefix("."))
    elif isinstance(part, list):
        for number, step in enumerate(part, 1):
            yield from of_lesson(step, lang, f"{name} {number}")


def places(faults: Iterator[tuple[str, str, str]]) -> str:
    """File, key and what is wrong there, a line each: what a failing test prints."""
    return "\n".join(" ".join(place) for place in faults)


@pytest.mark.parametrize("lang", LANGUAGES)
def test_replaced_words_do_not_come_back(lang):
    leftovers = (
        (file, key, f"“{old}”: say “{new}”")
        for file, key, text in texts(lang)
        for old, new in REPLACED[lang].items()
        if re.search(old, text)
    )
    assert not (listing := places(leftovers)), listing


def test_chinese_sentences_have_chinese_punctuation():
    wrong = (
        (file, key, repr(match[0]))
        for file, key, text in texts("zh")
        for match in HALF_WIDTH.finditer(CODE.sub("x", PLURAL.sub("n", PLACEHOLDER.sub("n", text))))
    )
    assert not (listing := places(wrong)), listing


def test_chinese_query_and_key_are_translated():
    """English stands in brackets, once, where a term is explained; and in code."""
    wrong = (
        (file, key, repr(match[0]))
        for file, key, text in texts("zh")
        for match in LATIN.finditer(re.sub(r"（[^）]*）", "", CODE.sub("x", PLACEHOLDER.sub("n", text))))
        if not file.startswith("assets/")  # of English sentences
    )
    assert not (listing := places(wrong)), listing


def test_counted_noun_agrees_with_number():
    """ "1 heads" cannot be: beside a number stands ``{n|head|heads}``."""
    wrong = ((file, key, repr(match[0])) for file, key, text in texts("en") for match in COUNTED_NOUN.finditer(text))
    assert not (listing := places(wrong)), listing


@pytest.mark.parametrize("lang", LANGUAGES)
def test_every_placeholder_is_well_formed(lang):
    """A plural whose form holds a brace, or that has one form only, would be shown as it stands."""
    for file, key, text in texts(lang):
        if file.endswith((f"{lang}.toml",)):
            for _, field, spec, conversion in Formatter().parse(PLURAL.sub("", text)):
                assert "|" not in (field or ""), (file, key, field)
                assert not (field or "").isidentifier() or not (spec or conversion), (file, key, "see viz.frame.format")


@pytest.mark.parametrize("lang", LANGUAGES)
def test_percent_sign_follows_number(lang):
    wrong = ((file, key, text) for file, key, text in texts(lang) if re.search(r"[\d}] %", text))
    assert not (listing := places(wrong)), listing


def test_plural_forms():
    assert [fill("{n} {n|head|heads}", n=n) for n in (0, 1, 2, "1", "1,024")] == [
        "0 heads", "1 head", "2 heads", "1 head", "1,024 heads"
    ]  # fmt: skip
    assert fill("{n|it|they}", n=1) == "it"
    assert translator("en")("head_grid.name_mean", n=1) == "Mean of 1 head"


EXPONENT = re.compile(r"\.?\d*[eg]$")
WRITES = {
    "viz/frame/format.py": "the formatter itself",
    "pages/convolution/link_numbers.py": "numbers of a link",
    "pages/step_by_step/formulas.py": "LaTeX",
}


def specs(path: Path) -> Iterator[tuple[int, str]]:
    """The format of every number that an f-string writes, with its line."""
    for node in ast.walk(ast.parse(path.read_text("utf8"))):
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr):
            yield (
                node.lineno,
                "".join(str(part.value) for part in node.format_spec.values if isinstance(part, ast.Constant)),
            )


@pytest.mark.parametrize("folder", ["pages", "viz/frame"])
def test_sentences_have_no_exponents(folder):
    """A number of a sentence goes through ``viz.frame.format``: ``:.3g`` and ``:.1e`` write 1.5e+00."""
    wrong = (
        (f"{path.relative_to(ROOT)}:{line}", spec)
        for path in sorted((ROOT / folder).rglob("*.py"))
        if path.relative_to(ROOT).as_posix() not in WRITES
        for line, spec in specs(path)
        if EXPONENT.search(spec)
    )
    listing = "\n".join(" ".join(place) for place in wrong)
    assert not listing, listing


BOUNDS = {
    "en": r"(?:at most|no more than|by more than|can exceed|by up to) \**\{(\w+)[|}]",
    "zh": r"(?:不会超过|不超过|最多(?:也?只)?(?:相差|差了?|变了)) \**\{(\w+)[|}]",
}
COUNTS = {"most", "side", "n"}
"""Placeholders of a bound that are whole numbers, written out."""


@pytest.mark.parametrize("lang", LANGUAGES)
def test_bounds_are_rounded_outwards(lang):
    """A number that a sentence calls a bound, and that has to be rounded, is written by ``at_most``."""
    bounds = 0
    for file in sorted((ROOT / "pages").glob(f"*/{lang}.toml")):
        code = "".join(path.read_text("utf8") for path in file.parent.rglob("*.py"))
        for key, text in _flatten(tomllib.loads(file.read_text("utf8")), "").items():
            for name in set(re.findall(BOUNDS[lang], text)) - COUNTS:
                assert re.search(rf"""["']?\b{name}\b["']?\s*[=:]\s*at_most\(""", code), (key, name)
                bounds += 1
    assert bounds > 8, "the expressions still find them"


def test_at_most_is_never_below():
    """Of 3,000 numbers of every size: no bound reads smaller than the number, nor by a digit larger."""
    generator = random.Random(0)
    for value in (10 ** generator.uniform(-9, 6) for _ in range(3000)):
        text = at_most(value, digits := generator.choice((2, 3)))
        bound = float(text.replace(",", "").translate(str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")).replace("·10", "e"))
        assert (
            value * (1 - 2e-6) <= bound <= value + max(10 ** (math.floor(math.log10(value)) + 1 - digits), 1e-9) * 1.01
        )
