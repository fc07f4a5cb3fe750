"""One head in nine steps: three words by hand, then a text; how heads are split, why the root, what breaks."""

from pages.step_by_step import ablation, saturation, split, steps, three_words
from pages.step_by_step.context import open_step_by_step
from pages.step_by_step.opening import HandFirst
from pages.step_by_step.own_numbers import puzzles
from pages.step_by_step.own_numbers import section as own_numbers
from viz.core.analysis.map_statistics import jacobian_norm
from viz.core.analysis.puzzles import check_cancellation, check_copies_previous, check_weight
from viz.core.analysis.saturation import random_scores
from viz.core.analysis.torch_module import MultiHeadAttention
from viz.core.attention import attend, row_softmax
from viz.core.heads import concat_heads, multi_head, split_heads
from viz.core.mistakes.attention import attend_wrongly, column_softmax, split_without_transpose
from viz.frame.page import Section, standalone

SPLIT = r"(B, T, H d_k) \to (B, T, H, d_k) \to (B, H, T, d_k)"
VARIANCE = (
    r"\operatorname{Var}\Bigl(\sum_{c=1}^{d} q_c k_c\Bigr) = d, \qquad \operatorname{Var}(q \cdot k / \sqrt d) = 1"
)
JACOBIAN = r"\frac{\partial\, \operatorname{softmax}(s)}{\partial s} = \operatorname{diag}(p) - p\, p^{\top}"

PAGE = HandFirst(
    name="step_by_step",
    knows=("gate", "latent", "values"),
    context=open_step_by_step,
    sections=(
        standalone(
            "three_words",
            three_words.draw,
            code=(multi_head, attend, row_softmax),
            formula=three_words.formula,
            subject=three_words.subject,
        ),
        standalone(
            "own_numbers",
            own_numbers.draw,
            code=(multi_head, attend, row_softmax, concat_heads),
            formula=own_numbers.FORMULA,
        ),
        standalone(
            "puzzles",
            puzzles.draw,
            code=(check_weight, check_copies_previous, check_cancellation),
            formula=own_numbers.FORMULA,
        ),
        Section("steps", steps.draw, code=steps.code, formula=steps.formula),
        Section(
            "split",
            split.draw,
            code=(split_heads, concat_heads, split_without_transpose, MultiHeadAttention),
            formula=SPLIT,
            reads_head=False,
        ),
        Section("saturation", saturation.draw, code=(random_scores, jacobian_norm), formula=VARIANCE, in_menu=True),
        Section("ablation", ablation.draw, code=(attend_wrongly, column_softmax), formula=JACOBIAN, in_menu=True),
    ),
)
