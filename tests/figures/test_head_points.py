"""Two clouds of heads, a ring, and what the pointer reads, literally."""

import torch

from viz.figures.head_points import Points, head_points


def test_selected_head_has_ring():
    """Every head is a point, and the selected one has a ring."""
    x, y = torch.arange(7.0), torch.arange(7.0) ** 2
    heads = Points(name="<b>", x=x, y=y, says=[f"head {i} <i>" for i in range(7)])
    chance = Points(name="chance", x=x[:5], y=y[:5], says=["-"] * 5)
    fig = head_points(heads, chance, 3, x_title="across", y_title="upwards")
    behind, front, ring = fig.data
    assert list(front.x) == x.tolist() and list(front.y) == y.tolist() and len(behind.x) == 5
    assert (ring.x[0], ring.y[0]) == (3.0, 9.0)
    assert "<" not in front.name and all("<i>" not in text for text in front.customdata)
    assert fig.layout.xaxis.title.text == "across" and fig.layout.yaxis.title.text == "upwards"
