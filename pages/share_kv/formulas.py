"""The formulas of sharing keys and values."""

# Line by line: side by side they are wider than a phone.
SHARED_HEAD = r"""\begin{gathered}
\operatorname{head}_i = \operatorname{attend}\big(X W_Q^i,\; X W_K^{g(i)},\; X W_V^{g(i)}\big)
\\ g(i) = \lfloor i\, G / H \rfloor
\end{gathered}"""
COPIED = r"K\colon (B, G, T, d_k) \to (B, H, T, d_k), \qquad K_i \leftarrow K_{g(i)}"
CACHE = r"C = 2\, L\, G\, d_k\, n\, b"
PARAMETERS = (
    r"\begin{gathered} P = 2\, d_{model} H d_k + 2\, d_{model}\, G\, d_k \\ C_{token} = 2\, G\, d_k\, b \end{gathered}"
)
POOLED = r"""\begin{gathered}
\bar K^{\,g} = \frac{G}{G_0} \sum_{j \,\in\, \mathrm{group}\ g} K^{\,j}
\\ \bar V^{\,g} = \frac{G}{G_0} \sum_{j \,\in\, \mathrm{group}\ g} V^{\,j}
\end{gathered}"""
