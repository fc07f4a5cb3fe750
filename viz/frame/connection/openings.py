"""Defaults of earlier versions of a page: an old link shows the same picture as when it was made.

Such a link does not name the parameter. So every link made now does, except that of the page as it opens.
"""

from collections.abc import Set

from viz.frame.shared import SECTION
from viz.params import Parameter, link
from viz.params.memory import Remembered
from viz.params.session import of_session

AS_OPENED = frozenset({"lang", "section"})
"""Parameters of a link that still opens the page at its defaults."""


def open_with(name: str, value: str) -> None:
    """Have a parameter's default be ``value``, unless a link of an earlier version names others and not this one.

    To be called before the parameter is declared.
    """
    if not Parameter(name).is_known:
        _is_old(name).set(not of_session().link.keys() <= AS_OPENED or _is_whole_page())
    if not of_session().preset and not _is_old(name).read():  # a lesson says itself what it shows
        of_session().preset = {name: value}


def name_in_link(name: str, as_opened: Set[str] = AS_OPENED) -> None:
    """Have every link but that of the page as it opens name a parameter that was opened with another default."""
    is_more = not link.link().keys() - {name} <= as_opened or _is_whole_page()
    is_new = name in of_session().preset and not _is_old(name).read()
    of_session().always = frozenset([name] if is_new and is_more else ())


def _is_whole_page() -> bool:
    return "all" in (of_session().link.get(SECTION.name), SECTION.has_value and SECTION.value)


def _is_old(name: str) -> Remembered[bool]:
    return Remembered(f"_{name}_of_an_old_link", default=False)
