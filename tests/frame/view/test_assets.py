"""Assets of every page are read once: a run that opens files, or asks of folders, waits for each."""

import os
from base64 import b64decode

from PIL import Image

from viz import ASSETS, ROOT
from viz.frame.view.assets import picture


def test_rerun_computes_assets_once(open_app, monkeypatch):
    """A rerun makes no page and no picture again."""
    app = open_app("heads")
    calls = []
    for name in ("stat", "lstat", "open"):
        function = getattr(os, name)
        monkeypatch.setattr(
            os, name, lambda path, *rest, function=function, **more: calls.append(path) or function(path, *rest, **more)
        )
    app.run()
    assert not app.exception
    below = [path for path in map(str, calls) if path.startswith((f"{ROOT}/pages/", f"{ROOT}/assets/"))]
    assert below == []


def test_rerun_decodes_no_picture(open_app, monkeypatch):
    decoded = []
    monkeypatch.setattr(Image, "open", lambda *args, **_: decoded.append(args))
    app = open_app("heads")
    assert not app.exception
    assert decoded == []
    for name in ("favicon.png", "logo.png"):
        kind, _, data = picture(name).partition(",")
        assert kind == "data:image/png;base64"
        assert b64decode(data) == (ASSETS / name).read_bytes()
