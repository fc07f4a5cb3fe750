"""Model, picture and their controls, shared by the sections on a trained vision model."""

from dataclasses import dataclass
from functools import cache

import streamlit as st
import torch
from torch import Tensor

from pages.convolution.compute import Numbers
from pages.convolution.context import ConvolutionContext
from pages.convolution.picture_choice import choose_picture
from pages.convolution.vision import compute
from pages.convolution.vision.compute import Reader
from pages.convolution.vision.ink import as_picture, is_ink, to_code, to_levels
from viz.frame.specs import picture_entries
from viz.models import registry
from viz.models.pictures.vision import VisionModel
from viz.models.trained import digits
from viz.params import Choice, Int, Text

DRAW = "draw"
DIGITS = (*map(str, range(10)), DRAW)


@dataclass(frozen=True, kw_only=True)
class VisionChoice:
    """A model that reads pictures, and a picture (channels, rows, columns) of 0 to 1.

    ``ink`` is the picture as the pad has it; None for a model that reads other pictures than digits.
    """

    reader: Reader
    picture: Tensor
    ink: str | None

    @property
    def key(self) -> Numbers:
        """The picture as part of a key."""
        return Numbers.of(self.picture)

    @property
    def model(self) -> VisionModel:
        """The model."""
        return compute.load_reader(self.reader)

    @property
    def is_own(self) -> bool:
        """Return whether the model is this project's own."""
        return self.ink is not None


VISION = Choice("vision", among=lambda names: names)
DIGIT = Choice("digit", "3", among=DIGITS)
NTH = Int("nth", high=lambda n: n - 1)
INK = Text("ink", allows=is_ink)


def choose_vision(context: ConvolutionContext, *, first: bool = False) -> VisionChoice:
    """Read model and picture; only the ``first`` section of a page, or the only one, draws the controls."""
    draws = first or not context.whole_page
    names = list(dict.fromkeys(entry.id for entry in picture_entries()))
    name = VISION.read(names)
    if draws and len(names) > 1:
        VISION.selectbox(context.t("convolution.vision.model"), names, width=320)
    reader = Reader(model=name)
    if _entry(name) not in registry.picture_entries():
        return VisionChoice(reader=reader, picture=choose_picture(context, draws=draws), ink=None)
    code = _ink(context, draws=draws)
    return VisionChoice(reader=reader, picture=as_picture(to_levels(code)), ink=code)


def _entry(name: str) -> registry.Entry:
    return next(entry for entry in picture_entries() if entry.id == name)


def _ink(context: ConvolutionContext, *, draws: bool) -> str:
    """A digit that nobody trained on, or the user's own."""
    t = context.t
    name = DIGIT.read()
    n = 1 if name == DRAW else len(_held_out(name))
    which = NTH.read(n)
    if draws:
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
            DIGIT.pills(
                t("convolution.vision.which"),
                says=lambda code: t("convolution.vision.draw") if code == DRAW else code,
            )
            if name != DRAW:
                NTH.number_input(t("convolution.vision.nth", n=n), n, width=220)
    code = INK.read()
    if name == DRAW:
        return code or to_code(to_levels(""))
    return _held_out(name)[which]


@cache
def _held_out(name: str) -> tuple[str, ...]:
    """The digits of a name that nobody trained on, as the pad has them."""
    held_out_digits = digits.held_out()
    return tuple(map(to_code, held_out_digits.levels[held_out_digits.names == int(name)]))


def grey(picture: Tensor) -> Tensor:
    """The brightness of a picture, (rows, columns)."""
    return torch.as_tensor(picture).mean(0)
