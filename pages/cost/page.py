"""What it costs: self-attention, convolution, recurrence; one head or many; real models; measured on this machine."""

from pages.cost import classic_table, growth, heads, layer_parts, measured, memory, models, paths
from pages.cost.context import about, open_cost
from pages.cost.streaming import streaming_attention
from viz.core.cost.architectures import (
    convolution,
    crossing,
    dilated,
    recurrence,
    self_attention,
    stacked,
    window_pairs,
    windowed_attention,
)
from viz.core.cost.attention import (
    attention_flops,
    kv_cache_bytes,
    parameters,
    softmax_exponentials,
    streaming_numbers,
)
from viz.core.cost.model import model_flops, model_kv_bytes, overtakes
from viz.core.cost.timing import fit_exponent, measure
from viz.frame.choice import Controls
from viz.frame.page import Page, Section, standalone

# One under the other: beside each other they are wider than a phone.
LAYER = r"""\begin{aligned}
\text{self-attention:}&\quad 4nd^2 + 2n^2d \\ \text{convolution:}&\quad knd^2 \\ \text{recurrence:}&\quad 2nd^2
\end{aligned}"""
PARTS = r"\underbrace{3nd^2 + nd^2}_{W_Q,\, W_K,\, W_V,\, W_O} + \underbrace{n^2 d + n^2 d}_{QK^\top,\, AV}"
STEPS = r"\left\lceil \frac{\text{distance}}{\lfloor k / 2 \rfloor} \right\rceil \qquad \lceil \log_k n \rceil"
STREAM = r"""\begin{aligned}
m' &= \max(m, \max_j s_j) \\ \ell' &= \ell\, e^{m - m'} + \sum_j e^{s_j - m'}
\end{aligned}"""
HEADS = r"""\begin{aligned}
&3nd\,(h d_k) + 2n^2 (h d_k) + n (h d_k)\, d \\ &= 4nd^2 + 2n^2 d \quad\text{if } h d_k = d
\end{aligned}"""
OVERTAKES = r"""\begin{gathered}
2n\,(P + 2 H d_k\, n L + F) \\ n^* = \left\lceil \frac{F - P}{2 H d_k L} \right\rceil
\end{gathered}"""
EXPONENT = r"""\begin{gathered}
\hat p = \frac{\sum (x - \bar x)(y - \bar y)}{\sum (x - \bar x)^2} \\ x = \ln n,\quad y = \ln \text{time}
\end{gathered}"""

PAGE = Page(
    name="cost",
    context=open_cost,
    controls=Controls(layer=False, mask=False),
    about=about,
    checks_source=False,
    sections=(
        standalone("growth", growth.draw, formula=LAYER, code=(self_attention, convolution, recurrence, crossing)),
        standalone("parts", layer_parts.draw, formula=PARTS, code=(attention_flops, windowed_attention, window_pairs)),
        standalone("table", classic_table.draw, code=(stacked, dilated)),
        Section("paths", paths.draw, formula=STEPS, code=(stacked, dilated)),
        standalone("memory", memory.draw, formula=STREAM, code=(streaming_attention, streaming_numbers)),
        standalone(
            "heads", heads.draw, formula=HEADS, code=(parameters, softmax_exponentials), parameters=("cost_fixed",)
        ),
        standalone(
            "models",
            models.draw,
            formula=OVERTAKES,
            code=(model_flops, overtakes, model_kv_bytes, kv_cache_bytes),
            parameters=("cost_model",),
            reads_model=True,
        ),
        standalone(
            "measured", measured.draw, formula=EXPONENT, code=(measure, fit_exponent), parameters=("cost_seconds",)
        ),
    ),
)
