"""Below a section: its formula, live checks, code and downloads, each opened by a button."""

import inspect
import math
from collections.abc import Callable, Iterable
from functools import cache, partial
from logging import WARNING, getLogger
from typing import TYPE_CHECKING, Any

import streamlit as st

from viz.frame import modes, view
from viz.frame.checks import Check
from viz.frame.format import number
from viz.text import Translate, has_text

if TYPE_CHECKING:
    from viz.frame.section import Section

_log = getLogger(__name__)


def footer(t: Translate, page: str, section: "Section", context: Any, checks: list[Check]) -> None:
    """Draw formula, checks, code and downloads as one row of buttons; each opens below it, computed on click."""
    why = f"{page}.{section.texts}.why"
    code = section.code(context) if callable(section.code) else section.code
    parts = {
        "why": partial(_why, t, page, section, context),
        "checks": partial(truth, t, checks),
        "code": partial(source_code, t, *code),
        "downloads": partial(section.downloads or str, context),
    }
    is_present = bool(section.formula) or has_text(why), bool(checks), bool(code), section.downloads is not None
    visible_parts = [part for part, is_there in zip(parts, is_present, strict=True) if is_there]
    wrong = [check for check in checks if not check.passed]
    labels = {part: t(f"footer.{part}") for part in ("why", "code", "downloads")}
    labels["checks"] = t("footer.checks", passed=len(checks) - len(wrong), n=len(checks))
    open_part = None
    if visible_parts and modes.shows("buttons"):
        open_part = st.pills(
            t("footer.label"),
            visible_parts,
            key=f"_footer_{section.texts}",
            format_func=labels.__getitem__,
            label_visibility="collapsed",
        )
    elif view.current().print == "answers" and "why" in visible_parts and modes.shows("answers"):
        open_part = "why"
    if wrong:
        _log.log(WARNING, "checks that failed on %s, %s: %s", page, section.texts, ", ".join(map(str, wrong)))
        st.error(t("truth.failed"))
        open_part = "checks"
    if open_part:
        parts[open_part]()


def _why(t: Translate, page: str, section: "Section", context: Any) -> None:
    if callable(section.formula):
        section.formula(context)
    elif section.formula:
        st.latex(section.formula)
    if has_text(why := f"{page}.{section.texts}.why"):
        st.markdown(t(why))


def truth(t: Translate, checks: Iterable[Check]) -> None:
    """Draw a section's live checks with their numbers."""
    for check in checks:
        mark = "✓" if check.passed else "✗"
        off = number(check.error) if math.isfinite(check.error) else str(check.error)
        st.markdown(f"{mark} {t(check.key, **check.values)} — {t('truth.off', off=off)}")


_source = cache(inspect.getsource)


def source_code(t: Translate, *functions: Callable[..., Any]) -> None:
    """The code that ran, read from the running modules."""
    st.caption(t("code.lead"))
    for function in functions:
        st.code(_source(function), language="python")
