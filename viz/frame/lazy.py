"""A property that is computed when it is first asked for."""

from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from functools import cache, update_wrapper
from typing import Any, Generic, TypeVar, cast, overload

T = TypeVar("T")


class Lazy(Generic[T]):
    """A property computed on first access and stored on its object.

    ``functools.cached_property`` will not do for what a page computes: in Python 3.11 it holds a lock, one for all
    objects of the class. A page that waits in the line inside it would keep out the next user's page, for whose
    turn it waits itself (:func:`viz.frame.queue_notice.aside`).
    """

    def __init__(self, compute: Callable[[Any], T]) -> None:
        self.compute = compute
        update_wrapper(self, compute)  # type: ignore[arg-type]

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> "Lazy[T]": ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> "Lazy[T] | T":
        if instance is None:
            return self
        # Python finds it on the instance from now on, before it finds this descriptor.
        value = instance.__dict__[self.name] = self.compute(instance)
        return value


# Lower case, because it is written like ``property``.
lazy = Lazy


def without_results(value: T) -> T:
    """Return a copy of a page's context without the values of its lazy properties, small enough to store.

    Sets are copied too: a section notes in them what it has drawn.
    """
    if isinstance(value, set):
        return cast(T, set(value))
    if not is_dataclass(value) or isinstance(value, type):
        return value
    parts = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    changeable = {name: part for name, part in parts.items() if isinstance(part, set) or is_dataclass(part)}
    copies = {name: without_results(part) for name, part in changeable.items()}
    if any(copies[name] is not part for name, part in changeable.items()) or _is_lazy(type(value)):
        return cast(T, replace(value, **copies))
    return value


@cache
def _is_lazy(kind: type) -> bool:
    return any(isinstance(attribute, Lazy) for attribute in vars(kind).values())
