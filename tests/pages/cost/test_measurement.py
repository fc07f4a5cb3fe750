"""A measurement beside the page: one at a time, stopped when told, shared, never left hanging."""

import threading
from contextlib import nullcontext

import pytest

from pages.cost import compute, measurement
from pages.cost.measurement import Measurement
from viz import limits
from viz.core.cost.timed_layers import CANDIDATES, Plan

PLAN = Plan(d=14, h=2, k=3, lengths=(3, 5, 7), seconds=1e9)


@pytest.fixture
def gates():
    return threading.Semaphore(1), threading.Semaphore(2), nullcontext


@pytest.fixture
def steps(monkeypatch):
    """A measurement that takes a step when told: ``steps.release()``; it ends after three, or by an error."""

    class Steps(threading.Semaphore):
        error: Exception | None = None

    waits = Steps(0)

    def measure(plan, *, stop):
        for n in plan.lengths:
            while not waits.acquire(timeout=0.01):
                if stop():
                    return
            if waits.error:
                raise waits.error
            yield n

    monkeypatch.setattr(measurement, "measure", measure)
    monkeypatch.setattr(Measurement, "wanted", property(lambda self: len(self.plan.lengths)))
    return waits


def until(condition):
    for _ in range(3000):
        if condition():
            return
        threading.Event().wait(0.01)
    pytest.fail("it never came to this")


def wait_for_end(measurement):
    until(lambda: not measurement.active)
    return measurement.state


def test_measurement_runs_to_end(gates):
    measurement = Measurement(PLAN, *gates)
    assert (measurement.state, measurement.progress) == ("idle", 0)
    measurement.start()
    assert wait_for_end(measurement) == "done"
    assert [(p.n, p.name) for p in measurement.points] == [(n, name) for n in PLAN.lengths for name in CANDIDATES]


def test_measurement_without_thread_fails(gates, monkeypatch):
    """The system may have none left; the place is free for the next one."""
    measurement = Measurement(PLAN, *gates)
    monkeypatch.setattr("pages.cost.measurement.start_thread", lambda *_: None)
    for _ in range(3):
        measurement.start()
        assert measurement.state == "failed"
    monkeypatch.undo()
    measurement.start()
    assert wait_for_end(measurement) == "done"


def test_the_limit_is_told(gates):
    measurement = Measurement(Plan(d=14, h=2, k=3, lengths=(3, 5), seconds=1e-9), *gates)
    measurement.start()
    assert wait_for_end(measurement) == "late"


def test_stop_keeps_points(gates, steps):
    measurement = Measurement(PLAN, *gates)
    measurement.start()
    steps.release()
    until(lambda: measurement.points == [3])
    assert measurement.progress == pytest.approx(1 / 3)
    measurement.stop()
    assert wait_for_end(measurement) == "stopped"
    assert measurement.points == [3]
    measurement.start()
    steps.release(3)
    assert wait_for_end(measurement) == "done"
    assert measurement.points == [3, 5, 7], "a new start begins anew"


def test_gate_runs_one_queues_one(gates, steps):
    first, second, third = (Measurement(PLAN, *gates) for _ in range(3))
    first.start()
    until(lambda: first.state == "running")
    second.start()
    third.start()
    assert second.state == "waiting"
    assert third.state == "full"
    second.stop()
    assert wait_for_end(second) == "stopped"
    third.start()
    assert third.state == "waiting"
    steps.release(6)
    assert [wait_for_end(first), wait_for_end(third)] == ["done", "done"]


def test_starting_twice_is_starting_once(gates, steps):
    measurement = Measurement(PLAN, *gates)
    measurement.start()
    measurement.start()
    steps.release(3)
    assert wait_for_end(measurement) == "done"
    assert measurement.points == [3, 5, 7]


def test_memory_error_frees_gate(gates, steps):
    measurement = Measurement(PLAN, *gates)
    steps.error = RuntimeError("not enough memory")
    measurement.start()
    steps.release()
    assert wait_for_end(measurement) == "failed"
    steps.error = None
    measurement.start()
    steps.release(3)
    assert wait_for_end(measurement) == "done"


def test_equal_plans_share_measurement():
    assert compute.measurement(PLAN) is compute.measurement(Plan(**vars(PLAN)))


def test_plan_too_large():
    largest = max(limits.MEASURED_LENGTHS)
    plan = Plan(d=limits.MEASURED_WIDTH, h=1, k=limits.MEASURED_KERNEL, lengths=(), seconds=60)
    assert plan.too_large("naive", 2 * largest)
    many = Plan(d=limits.MEASURED_WIDTH, h=limits.MEASURED_WIDTH, k=1, lengths=(), seconds=60)
    assert many.too_large("naive", 512)
