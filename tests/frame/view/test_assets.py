"""What stands on every page is read once: a run that opens files, or asks of folders, waits for each."""

import os
from base64 import b64decode

from PIL import Image

from viz import ASSETS, ROOT
from viz.frame.view.assets import picture


def test_a_run_asks_for_no_page_and_no_picture_again(open_app, monkeypatch):
    app = open_app("heads")
    asked = []
    for name in ("stat", "lstat", "open"):
        one = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda path, *rest, one=one, **more: asked.append(path) or one(path, *rest, **more)
        )
    app.run()
    assert not app.exception
    below = [path for path in map(str, asked) if path.startswith((f"{ROOT}/pages/", f"{ROOT}/assets/"))]
    assert below == []


def test_no_run_decodes_or_hashes_a_picture_that_stands_on_every_page(open_app, monkeypatch):
    decoded = []
    monkeypatch.setattr(Image, "open", lambda *given, **_: decoded.append(given))
    app = open_app("heads")
    assert not app.exception
    assert decoded == []
    for name in ("favicon.png", "logo.png"):
        kind, _, held = picture(name).partition(",")
        assert kind == "data:image/png;base64"
        assert b64decode(held) == (ASSETS / name).read_bytes()
