"""Large imports: one thread at a time, no garbage collection meanwhile."""

import gc
from threading import Thread

from tests import SAFETY_NET
from viz.imports import importing


def test_importing_switches_garbage_collection_off():
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


def test_importing_lets_one_thread_in():
    order: list[str] = []

    def wait() -> None:
        with importing():
            order.append("other")

    thread = Thread(target=wait)
    with importing():
        thread.start()
        thread.join(0.1)
        order.append("one")
    thread.join(SAFETY_NET)
    assert order == ["one", "other"]
