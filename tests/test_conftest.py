"""Settings that every test depends on."""

import re
from concurrent.futures import ThreadPoolExecutor

import torch

from tests.conftest import MENDED, ROOT


def test_torch_uses_one_thread():
    """In each worker of a test run, and in threads of their own, for which ``set_num_threads`` does not speak."""
    with ThreadPoolExecutor() as pool:
        assert torch.get_num_threads() == pool.submit(torch.get_num_threads).result() == 1


def test_all_mends_of_streamlit_are_watched():
    """Each ``Class.name = ...`` of what a public server mends."""
    sources = [path.read_text(encoding="utf-8") for path in (ROOT / "viz/streamlit_internals").glob("*.py")]
    mends = re.findall(r"^    ([A-Z]\w+)\.(\w+) = ", "\n".join(sources), re.MULTILINE)
    assert {(kind, name) for _, kind, name in MENDED} == set(mends)
