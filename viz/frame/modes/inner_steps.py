"""The steps inside a section, which a presentation goes through before it opens the next section."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from viz.frame import modes, view
from viz.params import Parameter
from viz.params.memory import Remembered


@dataclass(frozen=True, kw_only=True)
class InnerSteps:
    """Values of one parameter, in their order; at another value all steps are behind."""

    name: str
    values: tuple[Any, ...]

    @property
    def at(self) -> int:
        """The number of the step that is shown, from 1; one more than there are where none of them is."""
        value = Parameter[Any](self.name).value
        return 1 + (self.values.index(value) if value in self.values else len(self.values))

    def go(self, places: int) -> None:
        """Set the parameter to the step so many places on, in a callback."""
        Parameter[Any](self.name).set(self.values[min(max(self.at - 1 + places, 0), len(self.values) - 1)])


_STEPS: Remembered[InnerSteps | None] = Remembered("_inner_steps", default=None)
take = _STEPS.take
"""Return the steps that the section offered in this run, once."""


def offer(name: str, values: Sequence[Any]) -> None:
    """Have a presentation go through these values of a declared parameter before it leaves the section.

    A section calls this while it is drawn. In a lesson nothing is offered: its steps say where each begins.
    """
    if view.current().present:
        _STEPS.set(InnerSteps(name=name, values=tuple(values)))


def first_of(default: Any, values: Sequence[Any]) -> Any:
    """Return where a section opens that shows all of its steps at a desk: in a presentation at the first."""
    return values[0] if view.current().present and modes.shows("inner_steps") else default
