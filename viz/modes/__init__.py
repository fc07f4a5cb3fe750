"""The modes: alternative presentations of every page, a removable folder each (:class:`viz.frame.modes.Mode`)."""

from importlib import import_module
from pkgutil import iter_modules

from viz.frame.modes import Mode

ORDER = ("embed", "present", "print", "lesson", "share", "glossary")
"""The outermost first; a folder that is missing here comes last."""


def find() -> list[Mode]:
    """Return the installed modes, the outermost first."""
    names = {module.name for module in iter_modules(__path__) if module.ispkg}
    names_in_order = [*filter(names.__contains__, ORDER), *sorted(names.difference(ORDER))]
    return [import_module(f"{__name__}.{name}").MODE for name in names_in_order]
