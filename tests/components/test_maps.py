"""The data of the strip of maps."""

import pytest
import torch

from viz.components.maps import Picture, pack_pictures


def test_pictures_of_two_sizes_are_refused():
    sizes = [Picture(title="", values=torch.rand(3, columns), low=0.0, high=1.0) for columns in (3, 5)]
    with pytest.raises(RuntimeError, match="equal size"):
        pack_pictures(sizes, alt="")
