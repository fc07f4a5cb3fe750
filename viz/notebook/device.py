"""The devices that a model and the numbers of a picture are on."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch


@contextmanager
def on_processor() -> Iterator[None]:
    """Make new tensors on the processor as long as this lasts, though the user has set another default device."""
    if torch.get_default_device().type == "cpu":
        yield
    else:
        with torch.device("cpu"):
            yield


def device_of(model: Any) -> torch.device:
    """Return the device that a model's inputs are put on: accelerate keeps weights elsewhere until they are used."""
    if (device := getattr(getattr(model, "_hf_hook", None), "execution_device", None)) is not None:
        return torch.device(device)
    devices = (parameter.device for parameter in model.parameters())
    return next((device for device in devices if device.type != "meta"), torch.device("cpu"))
