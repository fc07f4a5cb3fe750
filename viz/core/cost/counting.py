"""torch's counter of multiplications, with all that torch imports when it first counts."""

import torch
from torch.utils.flop_counter import FlopCounterMode

__all__ = ["FlopCounterMode"]

# torch imports its compiler when something is first counted. Two threads that do so at once may each get half of it;
# modules of pages are imported by one thread at a time, so it is imported here. This call is the public way to do so.
torch.compiler.list_backends()
