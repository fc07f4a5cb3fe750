"""Arrays of other libraries as numpy's or torch's: sparse ones, those on another device, those that lend memory."""

import math
from typing import Any

import numpy as np
from torch.utils.dlpack import from_dlpack

DENSE = ("toarray", "todense")
"""Methods of sparse arrays that write out their zeros."""

COPIES = ("get", "numpy", "asnumpy")
"""Methods of arrays on another device, of which numpy gets nothing unasked: CuPy's, older TensorFlow's, MXNet's."""

MOST_NUMBERS = 2**28
"""Of a sparse array that is written out."""


def read_foreign(value: Any) -> Any:
    """Return the numbers of any library as an array of numpy, or as a tensor where they only lend their memory.

    Raises:
        ValueError: a sentence, if they are too many, or the library hands out none.
    """
    shape, kind = tuple(getattr(value, "shape", ())), type(value).__name__
    if shape and (dense := next((call for name in DENSE if callable(call := getattr(value, name, None))), None)):
        if math.prod(shape) > MOST_NUMBERS:
            size = " × ".join(map(str, shape))
            raise ValueError(f"{kind} is {size} with its zeros: hand over the rows and columns of one text.")
        return np.asarray(dense())
    reason = "it holds objects"
    try:
        array = np.asarray(value)
    except Exception as error:  # of whatever kind its library has
        array, reason = None, str(error).partition("\n")[0][:160]
    if array is not None and (array.dtype.kind != "O" or not shape):
        return array
    if (copy := _copy_of(value)) is not None:
        return copy
    if array is None:
        raise ValueError(f"{kind} gives numpy no numbers ({reason}): hand over an array of numpy or torch.")
    return array


def _copy_of(value: Any) -> Any:
    for name in COPIES:
        try:
            copy = np.asarray(getattr(value, name)())
        except Exception:  # another thing of the same name
            continue
        if copy.dtype.kind != "O":
            return copy
    try:
        return from_dlpack(value)
    except Exception:
        return None
