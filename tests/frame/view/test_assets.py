"""What stands on every page is read once: a run that opens files, or asks of folders, waits for each."""

import os
from base64 import b64decode

from PIL import Image

from viz import ASSETS, ROOT
from viz.frame.view.assets import picture


def test_rerun_computes_assets_once(open_app, monkeypatch):
    """A rerun makes no page and no picture again."""
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


def test_rerun_decodes_no_picture(open_app, monkeypatch):
    decoded = []
    monkeypatch.setattr(Image, "open", lambda *given, **_: decoded.append(given))
    app = open_app("heads")
    assert not app.exception
    assert decoded == []
    for name in ("favicon.png", "logo.png"):
        kind, _, held = picture(name).partition(",")
        assert kind == "data:image/png;base64"
        assert b64decode(held) == (ASSETS / name).read_bytes()
