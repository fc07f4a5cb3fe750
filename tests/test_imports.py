"""What is imported stays: nobody looks for garbage meanwhile. What torch computes with is loaded before torch is."""

import gc
import subprocess
import sys
from pathlib import Path
from threading import Thread

import pytest

from viz import ROOT, imports
from viz.imports import importing, load_libraries

BEFORE_TORCH = """
import sys
from viz.imports import LIBRARY, load_libraries

library = LIBRARY.rpartition("/")[2]
mapped = lambda: library in open("/proc/self/maps").read()
assert not mapped()
thread = load_libraries()
thread.join()
assert mapped() and "torch" not in sys.modules, "the library alone"
import torch
assert torch.eye(2).tolist() == [[1, 0], [0, 1]]
assert load_libraries() is None, "it is here"
"""


def test_nobody_looks_for_garbage_while_something_is_imported():
    assert gc.isenabled()
    with importing():
        assert not gc.isenabled()
        with importing():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()
    gc.disable()
    try:
        with importing():
            pass
        assert not gc.isenabled(), "who turned it off turns it on"
    finally:
        gc.enable()


def test_one_thread_imports_at_a_time():
    order: list[str] = []

    def wait() -> None:
        with importing():
            order.append("other")

    other = Thread(target=wait)
    with importing():
        other.start()
        other.join(0.1)
        order.append("one")
    other.join(60)
    assert order == ["one", "other"]


@pytest.mark.skipif(
    not Path("/proc/self/maps").is_file(), reason="only Linux says what is loaded: to be asked otherwise"
)
def test_what_torch_computes_with_is_loaded_before_torch_is_imported():
    done = subprocess.run([sys.executable, "-c", BEFORE_TORCH], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_library_is_loaded_by_a_call_that_lets_other_threads_run(monkeypatch):
    asked = []

    class Function:
        def __call__(self, *asked_for):
            asked.append((asked_for, self.argtypes, self.restype))

    class System:
        dlopen = Function()

    def own_code(name):
        assert name is None, "CDLL itself loads while it keeps all others waiting"
        return System

    monkeypatch.setattr(imports.ctypes, "CDLL", own_code)
    imports._load(b"libtorch.so")
    ((library, flags), (path_type, _), handle) = asked[0]
    assert (library, flags) == (b"libtorch.so", imports.os.RTLD_NOW)
    assert (path_type, handle) == (imports.ctypes.c_char_p, imports.ctypes.c_void_p), "a handle has 64 bits"


def test_where_torch_has_no_such_library_nothing_is_loaded(monkeypatch):
    monkeypatch.setattr(imports, "LIBRARY", "lib/torch.dll")
    monkeypatch.delitem(sys.modules, "torch")
    assert load_libraries() is None
