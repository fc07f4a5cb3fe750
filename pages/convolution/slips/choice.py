"""Common mistakes on the way from heads to a kernel, each beside the right result."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from pages.convolution.context import ConvolutionContext
from pages.convolution.slips import farthest, mirrored, sharpness, width, worked_pair
from viz.frame.checks import Check
from viz.params import Choice

SLIPS = {
    "farthest": farthest,
    "mirrored": mirrored,
    "example": worked_pair,
    "sharpness": sharpness,
    "width": width,
}
"""Each a module that draws it, and has its formula and its code."""
SLIP = Choice("slip", among=tuple(SLIPS))


def draw(context: ConvolutionContext) -> list[Check]:
    """Draw the choice of a mistake, beside the right result."""
    t = context.t
    slip = SLIP.pills(
        t("convolution.slips.which"),
        says=lambda code: t(f"convolution.slips.{code}"),
        label_visibility="collapsed",
    )
    return SLIPS[slip].draw(context)


def code(_: ConvolutionContext) -> tuple[Callable[..., Any], ...]:
    """The functions behind the slip that is shown."""
    functions: tuple[Callable[..., Any], ...] = SLIPS[SLIP.read()].CODE
    return functions


def formula(_: ConvolutionContext) -> None:
    """The formula of the slip that is shown."""
    st.latex(SLIPS[SLIP.read()].FORMULA)
