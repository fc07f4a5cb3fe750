"""The table everybody quotes (Vaswani et al. 2017, table 1), with exact numbers beside the orders."""

from dataclasses import replace
from math import inf, prod

import streamlit as st

from pages.cost import recount
from pages.cost.context import CostContext, draw_sizes
from pages.cost.growth import flops_check
from pages.cost.layer_parts import MASKED_TOKENS, pairs_check
from viz.core.cost.architectures import ARCHITECTURES, Architecture, Sizes
from viz.frame.checks import Check, check
from viz.frame.format import amount


def draw(context: CostContext) -> list[Check]:
    """Work, waiting and the longest path of five layers."""
    t, s = context.t, context.sizes
    head = [t(f"cost.{name}") for name in ("layer", "order", "at_sizes", "exact", "waits", "path")]
    rows = [head, ["---"] * len(head)]
    for architecture in ARCHITECTURES:
        work, waits, path = (f"$O({formula})$" for formula in architecture.formulas)
        rows.append(
            [
                t(f"cost.{architecture.name}"),
                work,
                amount(architecture.order(s)),
                amount(architecture.count(s)),
                f"{waits} = {amount(architecture.waits(s))}",
                f"{path}: {amount(architecture.longest_path(s))}",
            ]
        )
    with st.container(key="cost_table"):  # its place is kept until the formulas are set
        st.markdown("\n".join(f"| {' | '.join(row)} |" for row in rows))
    draw_sizes(context)
    off = max(
        abs(architecture.order(s) - multiplied_out(architecture.formulas[0], s)) for architecture in ARCHITECTURES
    )
    return [check("cost.check_orders", off, 0), flops_check(s), pairs_check(s), _paths_check(s)]


def multiplied_out(formula: str, s: Sizes) -> int:
    """The value of a product as the table writes it.

    Example:
        >>> multiplied_out("k n d^2", Sizes(n=10, d=4, k=3))
        480
    """
    values = {"n": s.n, "d": s.d, "k": s.k}
    factors = (factor.partition("^") for factor in formula.split())
    return prod(values[letter] ** int(power or 1) for letter, _, power in factors)


def _paths_check(s: Sizes) -> Check:
    """The longest paths of all shorter texts against a first word that spreads layer by layer."""
    n = min(s.n, MASKED_TOKENS)
    shorter = [replace(s, n=m + 1) for m in range(n)]
    off = max(
        steps_off(architecture, list(map(architecture.longest_path, shorter)), s.k) for architecture in ARCHITECTURES
    )
    return check("cost.check_paths", off, 0, n=n)


def steps_off(architecture: Architecture, steps: list[int | None], k: int) -> float:
    """Error of the numbers of steps, by distance, against a signal that spreads layer by layer."""
    expected = recount.spreading_steps(architecture.name, len(steps), k)
    pairs = zip(steps, expected, strict=True)
    return max(0 if a == b else inf if a is None or b is None else abs(a - b) for a, b in pairs)
