"""The formulas of what it costs."""

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
