"""The shift counted from the key to the query: the kernel comes out turned round."""

from torch import Tensor

from pages.convolution.context import SHARP, ConvolutionContext
from pages.convolution.difference import lopsided
from pages.convolution.images import kernels, picture
from pages.convolution.picture_choice import replicated
from pages.convolution.side_by_side import shared_scale, show_side_by_side
from viz.components.maps import Picture
from viz.core.analysis.checks import largest
from viz.core.mistakes.relative import query_minus_key
from viz.core.variants.relative import axial_layer, heads_from_kernel
from viz.frame.checks import Check, check
from viz.frame.format import number
from viz.frame.modes import say
from viz.params import Choice

FORMULA = (
    r"\begin{gathered} \delta = k - q: \quad y_q = \sum_\Delta w_\Delta\, x_{q + \Delta}"
    r" \\ \delta' = q - k: \quad y_q = \sum_\Delta w_\Delta\, x_{q - \Delta} \end{gathered}"
)
CODE = (query_minus_key,)
SLIP_KERNEL = Choice("slip_kernel", among=("emboss", "sobel", "blur"))
"""By name; the blur is the same when turned round."""


def draw(context: ConvolutionContext) -> list[Check]:
    """The same heads with both signs, between what torch makes of the kernel and of the kernel turned round."""
    t = context.t
    name = SLIP_KERNEL.pills(
        t("convolution.kernel"), says=lambda code: t(f"convolution.slips.kernel_{code}"), width="content"
    )
    # One channel, of the filter and of the picture, is enough to see where a pixel comes from.
    kernel, image = kernels()[name][:1, None], picture("scene").mean(0, keepdim=True)
    heads = heads_from_kernel(kernel, alpha=SHARP)
    right, wrong, expected = (
        axial_layer(heads, image),
        axial_layer(query_minus_key(heads), image),
        replicated(image, kernel),
    )
    off = {
        name: number(float((output - expected).abs().max())) for name, output in (("right", right), ("wrong", wrong))
    }
    low, high = shared_scale(right, wrong, expected)
    pictures = [
        Picture(title=t(f"convolution.slips.mirrored_{name}", **off), values=output[0], low=low, high=high)
        for name, output in (("torch", expected), ("right", right), ("wrong", wrong))
    ]
    sentence = t("convolution.slips.mirrored_found", **off)
    show_side_by_side(t, pictures, key="slip_mirrored", alt=sentence)
    say(sentence)
    return _checks(right, wrong, image, kernel)


def _checks(right: Tensor, wrong: Tensor, image: Tensor, kernel: Tensor) -> list[Check]:
    expected_turned = replicated(image, kernel.flip(-1, -2))
    noise, uneven = lopsided(3)
    on_noise = axial_layer(query_minus_key(heads_from_kernel(uneven, alpha=SHARP)), noise)
    expected = replicated(noise, uneven.rot90(2, (-1, -2)))
    size = 1e-5 * largest(expected_turned)
    return [
        check("convolution.slips.check_conv", (right - replicated(image, kernel)).abs().max(), size),
        check("convolution.slips.check_turned", (wrong - expected_turned).abs().max(), size),
        check("convolution.slips.check_turned_noise", (on_noise - expected).abs().max(), 1e-5 * largest(expected)),
    ]
