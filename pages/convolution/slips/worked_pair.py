"""An example worked out with the shift's sign turned: a query at (1, 4), a key at (3, 2), and all their numbers."""

from collections.abc import Sequence
from dataclasses import dataclass

import streamlit as st
import torch
from torch import Tensor

from pages.convolution import by_hand
from pages.convolution.context import ConvolutionContext
from viz.components.matrix import Matrix, numbered
from viz.core.analysis.checks import largest
from viz.core.attention import row_softmax
from viz.core.variants.relative import position_vectors
from viz.frame.checks import Check, check
from viz.frame.format import number, part
from viz.frame.modes import say
from viz.frame.show import show_matrix
from viz.params import Int, Real
from viz.text import Translate

FORMULA = (
    r"\begin{gathered} v = -\alpha\,(1, -2\Delta_1, -2\Delta_2), \quad"
    r" r_\delta = (\lVert\delta\rVert^2, \delta_1, \delta_2)"
    r" \\ v \cdot r_\delta = -\alpha\lVert\delta - \Delta\rVert^2 + \alpha\lVert\Delta\rVert^2 \end{gathered}"
)
CODE = (position_vectors,)
ROWS, COLUMNS = 6, 7
PLACES = (
    Int("slip_q_row", 1, high=ROWS - 1),
    Int("slip_q_column", 4, high=COLUMNS - 1),
    Int("slip_k_row", 3, high=ROWS - 1),
    Int("slip_k_column", 2, high=COLUMNS - 1),
    Int("slip_d_row", 2, low=1 - ROWS, high=ROWS - 1),
    Int("slip_d_column", -2, low=1 - COLUMNS, high=COLUMNS - 1),
)
"""The example of the notes; the head's centre is the shift that it has between query and key."""
SLIP_ALPHA_2D = Real("slip_alpha_2d", 1.0, among=(0.1, 0.3, 1.0, 3.0))
LINES = ("delta", "length", "r", "v", "product", "square", "constant", "weight", "most")


@dataclass(frozen=True, kw_only=True)
class Side:
    """One way to count a shift: the shift of the pair, its vectors and score, and the weights of all cells."""

    delta: Tensor
    v: Tensor
    r: Tensor
    score: float
    weights: Tensor


def draw(context: ConvolutionContext) -> list[Check]:
    """Render the query's weights with both signs, and every intermediate number."""
    t, pictures = context.t, st.container()
    places, alpha = _read_controls(t)
    q, k, centre = (torch.tensor(places[i : i + 2], dtype=torch.float) for i in (0, 2, 4))
    sides = {"right": _side(q, k, centre, alpha, 1), "wrong": _side(q, k, centre, alpha, -1)}
    with pictures:
        for column, (name, side) in zip(st.columns(2), sides.items(), strict=True):
            with column:
                say(t(f"convolution.slips.example_{name}", delta=_vector(side.delta)))
                _map(t, name, side.weights, q, k)
        _say(t, sides, q, centre)
        st.markdown(_table(t, sides, k, centre, alpha))
    return _checks(sides, q, k, centre, alpha)


def _read_controls(t: Translate) -> tuple[list[int], float]:
    """Rows and columns of query, key and centre, and α."""
    with st.expander(t("convolution.slips.example_move")):
        with st.container(horizontal=True, gap="small"):
            places = [place.number_input(t(f"convolution.slips.{place.name}"), width=130) for place in PLACES]
        alpha = SLIP_ALPHA_2D.select_slider(t("convolution.slips.alpha"), width=260)
    return places, alpha


def _side(q: Tensor, k: Tensor, centre: Tensor, alpha: float, sign: int) -> Side:
    """The numbers of a pair, the shift counted as key minus query (``sign`` 1) or query minus key (−1)."""
    cells = torch.cartesian_prod(torch.arange(float(ROWS)), torch.arange(float(COLUMNS)))
    v, r = position_vectors(centre[None], torch.tensor([alpha]), sign * (cells - q))
    scores = (r @ v.T)[:, 0]
    at = int(k[0]) * COLUMNS + int(k[1])
    weights = row_softmax(scores[None])[0]
    return Side(delta=sign * (k - q), v=v[0], r=r[at], score=float(scores[at]), weights=weights.view(ROWS, COLUMNS))


def _map(t: Translate, name: str, weights: Tensor, q: Tensor, k: Tensor) -> None:
    rows, columns = (
        numbered(ROWS, t("convolution.slips.grid_row")),
        numbered(COLUMNS, t("convolution.slips.grid_column")),
    )
    cells = [(int(row), int(column)) for row, column in (q, k)]
    letters = {cells[0]: "Q = K"} if cells[0] == cells[1] else dict(zip(cells, "QK", strict=True))
    matrix = Matrix(values=weights, rows=rows, columns=columns, kind="weights", letters=letters, low=True, scale=False)
    show_matrix(t, matrix, key=f"slip_example_{name}", alt=t(f"convolution.slips.example_alt_{name}"))


def _say(t: Translate, sides: dict[str, Side], q: Tensor, centre: Tensor) -> None:
    """Describe the place of the head's centre with both signs, and the pixel with the largest weight."""
    places = {"right": _vector(q + centre), "wrong": _vector(q - centre), "delta": _vector(centre)}
    maxima = {f"{name}_most": _vector(divmod(int(side.weights.argmax()), COLUMNS)) for name, side in sides.items()}
    say(t("convolution.slips.example_found", **places, **maxima))


def _vector(values: Tensor | Sequence[int]) -> str:
    return f"({', '.join(number(float(value), 3) for value in values)})"


def _table(t: Translate, sides: dict[str, Side], k: Tensor, centre: Tensor, alpha: float) -> str:
    """Line by line what becomes of a pair, with both signs."""
    constant = alpha * float(centre.square().sum())
    names = (t(f"convolution.slips.{column}") for column in ("quantity", "sign_right", "sign_wrong"))
    lines = [f"| {' | '.join(names)} |", "|---|---|---|"]
    cells = {name: _cells(side, k, constant) for name, side in sides.items()}
    for line in LINES:
        name = t(f"convolution.slips.line_{line}")
        lines.append(f"| {name} | {cells['right'][line]} | {cells['wrong'][line]} |")
    return "\n".join(lines)


def _cells(side: Side, k: Tensor, constant: float) -> dict[str, str]:
    most = divmod(int(side.weights.argmax()), COLUMNS)
    return {
        "delta": _vector(side.delta),
        "length": number(float(side.r[0]), 3),
        "r": _vector(side.r),
        "v": _vector(side.v),
        "product": number(side.score, 3),
        "square": number(side.score - constant, 3),
        "constant": number(constant, 3),
        "weight": part(float(side.weights[int(k[0]), int(k[1])])),
        "most": f"{_vector(most)}: {part(float(side.weights.max()))}",
    }


def _checks(sides: dict[str, Side], q: Tensor, k: Tensor, centre: Tensor, alpha: float) -> list[Check]:
    """Check the weights from coordinates and the score of the pair, worked out with plain numbers."""
    query = torch.tensor([int(q[0]) * COLUMNS + int(q[1])])
    checks = []
    for name, sign in (("right", 1), ("wrong", -1)):
        expected = by_hand.window_scores(sign * centre[None], torch.tensor([alpha]), (ROWS, COLUMNS), query)
        off = (sides[name].weights.flatten() - by_hand.softmax(expected)[0, 0]).abs().max()
        checks.append(check(f"convolution.slips.check_example_{name}", off, 1e-6 * largest(expected)))
    (q_row, q_column), (k_row, k_column), (d_row, d_column) = ((float(a), float(b)) for a, b in (q, k, centre))
    away = (k_row - q_row - d_row) ** 2 + (k_column - q_column - d_column) ** 2
    score = -alpha * away + alpha * (d_row**2 + d_column**2)
    checks.append(
        check("convolution.slips.check_score", abs(sides["right"].score - score), 1e-4, score=number(score, 3))
    )
    return checks
