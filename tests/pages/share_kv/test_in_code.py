"""Sharing in code: the results of the four versions, and their sentences."""

import inspect

import pytest

from pages.share_kv import in_code
from tests.running import checked, sentences_of
from viz.core.analysis.grouped_module import GroupedQueryAttention
from viz.text import LANGUAGES, translator

SMALL = {"section": "in_code", "source": "words", "text": "one two three four five", "n_heads": 4}


def codes(app):
    return [block.value for block in app.code]


def test_error_line_marked_with_message(open_app):
    app = open_app("share_kv", gqa_code="five_axes", n_kv_heads=2, **SMALL)
    source, message = codes(app)
    (line,) = [line for line in source.splitlines() if "# ←" in line]
    assert line.strip() == "groups = x[:, :, None, :, :]  # ← IndexError"
    assert message == "too many indices for tensor of dimension 3"
    assert translator("en")("share_kv.in_code.raised", kind="IndexError") in [box.value for box in app.error]
    app.button_group(key="gqa_code").set_value("too_many").run()
    source, message = codes(app)
    assert "copies.reshape(B, self.n_heads // G, G, T, d)  # ← RuntimeError" in source
    assert "is invalid for input of size" in message
    n_passed, n = checked(app, "in_code")
    assert n_passed == n == 7


def test_too_many_copies_single_group(open_app):
    source, message = codes(open_app("share_kv", gqa_code="too_many", n_kv_heads=1, **SMALL))
    assert "self.o_proj(heads.transpose(1, 2).reshape(B, T, -1))  # ← RuntimeError" in source
    assert "cannot be multiplied" in message


@pytest.mark.parametrize("lang", LANGUAGES)
def test_single_head_copies_nothing(open_app, lang):
    app = open_app("share_kv", gqa_code="too_many", lang=lang, **SMALL | {"n_heads": 1})
    assert translator(lang)("share_kv.in_code.too_many_one") in sentences_of(app)
    n_passed, n = checked(app, "in_code")
    assert n_passed == n == 7


@pytest.mark.parametrize(("G", "quiet"), [(1, True), (2, False), (4, True)])
def test_repeat_is_wrong_only_in_between(open_app, G, quiet):
    app = open_app("share_kv", gqa_code="tiled", n_kv_heads=G, **SMALL)
    sentence = translator("en")("share_kv.in_code.tiled_says", off="0")
    assert (sentence in sentences_of(app)) is quiet


def test_marked_line_number():
    function = inspect.unwrap(GroupedQueryAttention.for_every_head)
    lines = in_code.mark_line(function, function.__code__.co_firstlineno + 2, "here").splitlines()
    assert lines[2].endswith("  # ← here") and sum("here" in line for line in lines) == 1
    assert lines[0].startswith("def for_every_head")
