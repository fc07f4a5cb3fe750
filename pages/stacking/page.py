"""The Stacking page: the origin of a last-layer token, its receptive field, and the effect of depth on tokens."""

from pages.stacking import gradient, layer_sharing, locality, oversmoothing, receptive_field
from pages.stacking.context import about, open_stacking
from viz.core.analysis import receptive_field as fields
from viz.core.analysis import rollout as paths
from viz.core.analysis.map_statistics import distance, entropy
from viz.core.analysis.token_similarity import mean_cosine, residual_share
from viz.core.variants.layer_sharing import layers_used
from viz.frame.inputs import Controls
from viz.frame.page import Page, Section, with_views
from viz.models.trained.layer_sharing import tied

# Line by line: side by side they are wider than a phone.
ORIGIN = (
    r"\begin{gathered} g_j = \Big\lVert \frac{\partial\, (r \cdot x^{(L)}_i)}{\partial x^{(0)}_j} \Big\rVert"
    r" \qquad \lVert r \rVert = 1 \\ \hat A_l = \tfrac12 \bar A_l + \tfrac12 I"
    r" \\ R_l = \hat A_l\, R_{l-1} \qquad R_0 = I \end{gathered}"
)
FIELD = r"S_l = M_l \lor I \qquad R_l = S_l\, R_{l-1} > 0"
ALIKE = (
    r"\frac{1}{T(T-1)} \sum_{i \ne j} \frac{x_i \cdot x_j}{\lVert x_i \rVert\, \lVert x_j \rVert}"
    r"\qquad \frac{\lVert X - \mathbf 1 \bar x^\top \rVert}{\lVert X \rVert}"
)
LOCALITY = r"-\sum_j A_{ij} \ln A_{ij} \qquad \sum_j A_{ij}\, |j - i|"
SHARING = (
    r"\begin{gathered} \theta_l = \theta_{g(l)}"
    r" \\ g(l) = \min\, \{ m : \lfloor m S / L \rfloor = \lfloor l S / L \rfloor \} \end{gathered}"
)

PAGE = Page(
    name="stacking",
    context=open_stacking,
    controls=Controls(layer=False),
    about=about,
    sections=(
        Section(
            "gradient",
            gradient.draw,
            code=(fields.sensitivity, paths.with_residual, paths.rollout),
            formula=ORIGIN,
        ),
        Section(
            "receptive_field",
            receptive_field.draw,
            code=(fields.step, fields.cone, fields.output_change),
            formula=FIELD,
            in_menu=True,
            reads_mask=False,
        ),
        with_views(
            "alike",
            Section("oversmoothing", oversmoothing.draw, code=(mean_cosine, residual_share), formula=ALIKE),
            Section("locality", locality.draw, code=(entropy, distance), formula=LOCALITY),
            in_menu=True,
        ),
        Section("layer_sharing", layer_sharing.draw, code=(layers_used, tied), formula=SHARING, in_menu=True),
    ),
)
