"""Model, picture and their controls, shared by the sections on a trained vision model."""

from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor

from pages.convolution.compute import Numbers
from pages.convolution.context import ConvolutionContext
from pages.convolution.picture_choice import choose_picture
from pages.convolution.vision import compute
from pages.convolution.vision.compute import Reader
from viz.frame.specs import picture_entries
from viz.models import registry
from viz.models.pictures.vision import VisionModel
from viz.models.trained import digits
from viz.params import Choice, Int

DIGITS = tuple(map(str, range(10)))


@dataclass(frozen=True, kw_only=True)
class VisionChoice:
    """A model that reads pictures, and a picture (channels, rows, columns) of 0 to 1.

    ``is_own`` is True for the model of this project, which reads digits: there 1 is ink.
    """

    reader: Reader
    picture: Tensor
    is_own: bool

    @property
    def key(self) -> Numbers:
        """The picture as part of a key."""
        return Numbers.of(self.picture)

    @property
    def model(self) -> VisionModel:
        """The model."""
        return compute.load_reader(self.reader)


VISION = Choice("vision", among=lambda names: names)
DIGIT = Choice("digit", "3", among=DIGITS)
NTH = Int("nth", high=lambda n: n - 1)


def choose_vision(context: ConvolutionContext) -> VisionChoice:
    """Read model and picture; the first section draws the controls."""
    draws = context.draws_first("vision")
    names = list(dict.fromkeys(entry.id for entry in picture_entries()))
    name = VISION.read(names)
    if draws and len(names) > 1:
        VISION.selectbox(context.t("convolution.vision.model"), names, width=320)
    reader = Reader(model=name)
    if _entry(name) not in registry.picture_entries():
        return VisionChoice(reader=reader, picture=choose_picture(context), is_own=False)
    return VisionChoice(reader=reader, picture=_digit(context, draws=draws), is_own=True)


def _entry(name: str) -> registry.Entry:
    return next(entry for entry in picture_entries() if entry.id == name)


def _digit(context: ConvolutionContext, *, draws: bool) -> Tensor:
    """A digit that nobody trained on, (1, 8, 8): 0 is blank, 1 is full of ink."""
    t, name = context.t, DIGIT.read()
    held_out = digits.held_out()
    levels = held_out.levels[held_out.names == int(name)]
    which = NTH.read(len(levels))
    if draws:
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
            DIGIT.pills(t("convolution.vision.which"))
            NTH.number_input(t("convolution.vision.nth", n=len(levels)), len(levels), width=220)
    return levels[which].float()[None] / digits.LEVELS


def grey(picture: Tensor) -> Tensor:
    """The brightness of a picture, (rows, columns)."""
    return torch.as_tensor(picture).mean(0)
