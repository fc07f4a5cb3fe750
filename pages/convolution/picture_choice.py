"""Picture, kernel, output channel and their controls, shared by the sections on pictures."""

from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor
from torch.nn.functional import conv2d, pad

from pages.convolution.context import ConvolutionContext
from pages.convolution.images import PICTURES, ImageError, decode, for_channels, kernels, picture
from viz import limits
from viz.frame.connection.uploads import file_uploader, say_missing, uploaded_bytes
from viz.frame.queue_notice import aside, stores, until
from viz.params import Choice, Int, Real
from viz.text import Translate

PICTURE = Choice("picture", "scene", among=(*PICTURES, "upload"))
KERNEL = Choice("kernel", "blur", among=("identity", "shift", "blur", "sharpen", "sobel", "emboss", "blur5", "own"))
K = Int("k", 3, among=(3, 5))
CHANNEL = Int("channel", high=lambda names: len(names) - 1)


@dataclass(frozen=True, kw_only=True)
class PictureChoice:
    """A picture (channels, rows, columns), and filters (filters, k, k) that are applied to each of its channels."""

    image: Tensor
    filters: Tensor

    @property
    def kernel(self) -> Tensor:
        """(out, in, k, k), as Conv2d has it: every filter on every channel."""
        return for_channels(self.filters, len(self.image))

    def torchs(self) -> Tensor:
        """The output of torch's Conv2d on the picture, with the border repeated."""
        return replicated(self.image, self.kernel)


def replicated(image: Tensor, kernel: Tensor) -> Tensor:
    """Torch's own convolution, with the border repeated."""
    half = kernel.shape[-1] // 2
    return conv2d(pad(image[None], (half,) * 4, mode="replicate"), kernel)[0]


def choose(context: ConvolutionContext) -> PictureChoice:
    """Read picture and kernel; the first section draws the controls."""
    if draws := context.draws_first("picture"):
        _controls(context.t)
    return PictureChoice(image=_image(context.t, says_why=draws), filters=_filters())


def choose_picture(context: ConvolutionContext) -> Tensor:
    """A picture alone, for a section that has no kernel, with its control if no section above has it."""
    if draws := context.draws_first("picture"):
        _uploader(context.t, _which_picture(context.t))
    return _image(context.t, says_why=draws)


def choose_channel(context: ConvolutionContext, choice: PictureChoice) -> int:
    """Read the output channel: number f * channels + c is filter f of channel c."""
    if not context.draws_first("channel"):
        return CHANNEL.value
    channels = len(choice.image)
    names = [f"{i // channels} · {i % channels}" for i in range(len(choice.filters) * channels)]
    channel = CHANNEL.read(names)
    if len(names) > 1:
        CHANNEL.selectbox(context.t("convolution.channel"), names, says=names.__getitem__, width=320)
    else:
        st.empty()
    return channel


def _which_picture(t: Translate) -> str:
    return PICTURE.pills(
        t("convolution.which_picture"), says=lambda code: t(f"convolution.picture_{code}"), width="content"
    )


def _uploader(t: Translate, source: str) -> None:
    if source == "upload":
        kinds, most = ["png", "jpg", "jpeg"], limits.PICTURE_BYTES // 10**6
        help_text = t("convolution.upload_help")
        file_uploader(t("convolution.upload"), "_upload", type=kinds, help=help_text, max_upload_size=most)


def _controls(t: Translate) -> None:
    with st.container(horizontal=True, gap="medium"):
        source = _which_picture(t)
        kernel = KERNEL.pills(
            t("convolution.kernel"), says=lambda code: t(f"convolution.kernel_{code}"), width="content"
        )
    _uploader(t, source)
    if kernel == "own":
        with st.container(horizontal=True, gap="medium", vertical_alignment="bottom"):
            _own_kernel(t)


def _own_kernel(t: Translate) -> None:
    k = K.segments("k", says=lambda k: f"{k} × {k}", width="content")
    with st.popover(t("convolution.kernel_numbers", n=k * k), key="kernel_numbers"):
        for row in range(k):
            with st.container(horizontal=True, gap="small"):
                for column in range(k):
                    shift = f"{row - k // 2}, {column - k // 2}".replace("-", "−")
                    _cell(k, row, column).number_input(shift, step=0.25, width=110)


def _cell(k: int, row: int, column: int) -> Real:
    """Return the parameter of a cell of the user's own kernel, which is the identity at first."""
    return Real(f"w{k}{row}{column}", float(row == column == k // 2), low=-9.0, high=9.0)


def _image(t: Translate, *, says_why: bool) -> Tensor:
    """One of the project's pictures, or the user's own; the digit until there is one that can be read."""
    source = PICTURE.read()
    if source != "upload":
        return picture(source)
    if (content := uploaded_bytes("_upload")) is not None:
        try:
            # It takes as much memory as a computation on a text.
            with aside(), stores().turns.turn("text", until):
                return decode(
                    content,
                    side=limits.PICTURE_SIDE,
                    most_bytes=limits.PICTURE_BYTES,
                    most_pixels=limits.PICTURE_PIXELS,
                    longest=limits.PICTURE_LONGEST,
                )
        except ImageError as error:
            if says_why:
                st.error(t(f"convolution.upload_{error.code}", **error.values))
    if says_why:
        say_missing(t, "_upload", "convolution.upload_none")
    return picture("digit")


def _filters() -> Tensor:
    """The filters of a kernel: by name, or typed."""
    name = KERNEL.read()
    if name != "own":
        return kernels()[name]
    k = K.read()
    return torch.tensor([[_cell(k, row, column).read() for column in range(k)] for row in range(k)])[None]
