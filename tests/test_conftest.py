"""Settings that every test depends on."""

import re
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from unittest.mock import Mock

import pytest
import torch

from tests.conftest import MENDED, ROOT, is_in_part, is_long, missing_cases, repeated_settings


def test_torch_uses_one_thread():
    """In each worker of a test run, and in threads of their own, for which ``set_num_threads`` does not speak."""
    with ThreadPoolExecutor() as pool:
        assert torch.get_num_threads() == pool.submit(torch.get_num_threads).result() == 1


def test_all_mends_of_streamlit_are_watched():
    """Each ``Class.name = ...`` of what a public server mends."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "viz/streamlit_internals").glob("*.py")]
    mends = re.findall(r"^    ([A-Z]\w+)\.(\w+) = ", "\n".join(sources), re.MULTILINE)
    assert {(kind, name) for _, kind, name in MENDED} == set(mends)


def test_part_holds_each_test_once():
    """Of the forty parts one has a test, whatever the commit is."""
    names = [f"tests/test_a.py::test_b[{i}]" for i in range(997)]
    parts = [{name for name in names if is_in_part(name, f"{number:x}/40")} for number in range(40)]
    assert sorted(name for part in parts for name in part) == sorted(names)
    assert {name for name in names if is_in_part(name, "cafe0028/40")} == parts[0xCAFE0028 % 40]


@pytest.mark.parametrize(
    ("arguments", "case", "opens_browser", "expected"),
    [
        (None, "heads", False, False),
        (None, "heads", True, True),
        ((), "heads", True, False),
        (("heads",), "heads", True, False),
        (("heads",), "masks", True, True),
        (("heads",), "masks", False, True),
    ],
)
def test_suite_follows_marker_and_browser(arguments, case, opens_browser, expected):
    """A browser makes a test long, unless `fast` names it or its case; cases beside a named one are long."""
    marker = None if arguments is None else pytest.mark.fast(*arguments).mark
    item = Mock(callspec=Mock(id=case), get_closest_marker=lambda _: marker)
    assert is_long(item, opens_browser) is expected


def test_product_has_every_value_once():
    """Of all combinations of settings those that are not long have every value of each, and no more than needed."""
    values = {"lang": "ab", "link,counts": "cdefg", "k": "hij"}
    marks = [pytest.mark.parametrize(names, options).mark for names, options in values.items()]
    cases = [
        Mock(fixturenames=["open_app"], iter_markers=lambda _: iter(marks), case=case)
        for case in product(*values.values())
    ]
    long = list(repeated_settings(cases))
    remaining = [case.case for case in cases if case not in long]
    assert len(remaining) == 5
    assert [len(set(values)) for values in zip(*remaining, strict=True)] == [2, 5, 3]
    assert not list(repeated_settings(cases[:7])), "some cases were asked for by name"
    assert not list(repeated_settings([Mock(fixturenames=["tmp_path"], iter_markers=lambda _: iter(marks))] * 30))


def test_missing_cases_are_named():
    """A case of `fast` that is no longer there would be in neither suite."""
    mark = pytest.mark.fast("heads", "moved").mark
    items = [
        Mock(nodeid=f"a.py::test_b[{case}]", callspec=Mock(id=case), get_closest_marker=lambda _: mark)
        for case in ("heads", "masks")
    ]
    assert missing_cases(items) == {("a.py::test_b", "moved")}
