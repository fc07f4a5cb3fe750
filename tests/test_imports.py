"""What is imported stays: nobody looks for garbage meanwhile, and everybody does afterwards."""

import gc
from threading import Thread

from viz.imports import importing


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
