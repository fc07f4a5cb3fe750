"""The block around the heads: attention, add and norm, feed-forward, add and norm; every box opens its tensor."""

from pages.block import code_that_ran, diagram, encoder_decoder, norm_place, opened_box, points, switched_off
from pages.block.context import about, open_block, with_target
from pages.block.equations import sublayer
from viz.core.block import decoder_block
from viz.frame.page import Page, Section, with_views

# One under the other: beside each other they are wider than a phone.
PLACES = r"""\begin{aligned}
\text{post:}&\quad y = \operatorname{N}(x + f(x)) \\ \text{pre:}&\quad y = x + f(\operatorname{N}(x)) \\
\text{output:}&\quad y = x + \operatorname{N}(f(x)) \\
\text{sandwich:}&\quad y = x + \operatorname{N}'(f(\operatorname{N}(x)))
\end{aligned}"""
MOMENTS = r"\lVert x_i \rVert^2 = D\,(\mu_i^2 + \sigma_i^2)"
SWITCHED = r"\begin{gathered} y = \operatorname{N}(f(x)) \\ y = x + f(x) \\ y = f(x) \end{gathered}"
CROSS = r"""\operatorname{softmax}\Big(\tfrac{x W_Q\, (M W_K)^{\top}}{\sqrt{d_k}}\Big)\, M W_V"""


PAGE = Page(
    name="block",
    context=open_block,
    about=about,
    sections=(
        with_views(
            "block_show",
            Section("diagram", with_target(diagram.draw), code=code_that_ran.of_diagram, formula=opened_box.formula),
            Section(
                "points", with_target(points.draw), code=code_that_ran.of_points, formula=MOMENTS, reads_head=False
            ),
            Section(
                "norm_place",
                with_target(norm_place.draw),
                code=code_that_ran.of_places,
                formula=PLACES,
                reads_layer=False,
                reads_head=False,
            ),
        ),
        Section(
            "switched_off",
            with_target(switched_off.draw),
            code=(sublayer,),
            formula=SWITCHED,
            reads_layer=False,
            reads_head=False,
        ),
        Section("encoder_decoder", with_target(encoder_decoder.draw), code=(decoder_block,), formula=CROSS),
    ),
)
