"""A user's picture is unpacked in a turn of the queue, which counts its memory."""

from types import SimpleNamespace

import pytest
import torch

from pages.convolution import picture_choice
from viz.errors import ModelError
from viz.frame.queue_notice import stores
from viz.scheduler.fair_queue import FairQueue


@pytest.fixture
def upload(monkeypatch):
    monkeypatch.setattr(picture_choice, "uploaded_bytes", lambda name: b"a file")
    monkeypatch.setattr(picture_choice, "PICTURE", SimpleNamespace(read=lambda: "upload"))


def test_image_of_user_unpacked_in_turn(upload, monkeypatch):
    """It may take as much memory as a computation on a text, and never stands beside the queue."""
    working = []

    def decode(raw, **options):
        working.append(stores().turns.working)
        return torch.zeros(3, 1, 1)

    monkeypatch.setattr(picture_choice, "decode", decode)
    assert picture_choice._image(str, says_why=False).shape == (3, 1, 1)
    assert working == [1]


def test_image_of_user_full_queue_refused(upload, monkeypatch):
    """A full queue is told on the page, and nothing is unpacked."""
    monkeypatch.setattr(picture_choice, "decode", lambda raw, **options: pytest.fail("it was unpacked"))
    monkeypatch.setattr(stores(), "turns", FairQueue(0, 0))
    with pytest.raises(ModelError, match="waiting"):
        picture_choice._image(str, says_why=False)
