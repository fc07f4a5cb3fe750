"""Attention that is a convolution: alpha and Delta, in one and two dimensions, built, learned, and looked for."""

from pages.convolution import difference, kernel_in_w_o, likeness, picture, training, windows
from pages.convolution.context import ConvolutionContext
from pages.convolution.slips import choice as slips
from pages.convolution.vision import heads as vision_heads
from pages.convolution.vision import training as vision_training
from viz.core.analysis.plane_fit import fit_planes, plane_weights
from viz.core.analysis.window_fit import fit_windows, window_weights
from viz.core.variants.learn_convolution import effective_kernel, learn
from viz.core.variants.relative import axial_layer, heads_from_kernel, position_vectors, quadratic_scores, value_heads
from viz.frame.page import Page, Section, standalone, with_views
from viz.models.trained.digits import train

PLANE = (
    r"A^{(h)}_{ij} \propto e^{-\alpha_h \lVert \delta - \Delta_h \rVert^2}, \qquad \delta, \Delta_h \in \mathbb{R}^2"
)
CONCATENATED = (
    r"\begin{gathered} y_i = [\,x_{i+\Delta_1}, \dots, x_{i+\Delta_H}]\, W_O"
    r" \\ W_O^{(h)} = w_{\cdot,\cdot,\Delta_h}^\top \end{gathered}"
)
LOSS = r"\frac{1}{P} \sum_i \Big( \sum_h w_h \sum_j A^{(h)}_{ij}\, x_j \;-\; (w^{*} * x)_i \Big)^2"
R_SQUARED = r"R^2 = 1 - \frac{\sum_{ij} (A_{ij} - \hat A_{ij})^2}{\sum_{ij} (A_{ij} - U_{ij})^2}"

PAGE = Page(
    name="convolution",
    knows=("latent", "values"),
    context=lambda scene: ConvolutionContext(scene=scene),
    sections=(
        Section("windows", windows.draw, (quadratic_scores, position_vectors), windows.FORMULA),
        with_views(
            "view",
            standalone("picture", picture.draw, (heads_from_kernel, axial_layer), PLANE),
            standalone("difference", difference.draw, (heads_from_kernel, axial_layer)),
            standalone("kernel_in_w_o", kernel_in_w_o.draw, (heads_from_kernel, value_heads), CONCATENATED),
        ),
        standalone("training", training.draw, (learn, effective_kernel), LOSS),
        standalone("slips", slips.draw, slips.code, slips.formula, in_menu=True),
        Section("likeness", likeness.draw, (fit_windows, window_weights), R_SQUARED, in_menu=True),
        with_views(
            "view",
            standalone("vision", vision_heads.draw, (fit_planes, plane_weights), R_SQUARED),
            standalone("vision_training", vision_training.draw, (train,)),
            in_menu=True,
        ),
    ),
)
