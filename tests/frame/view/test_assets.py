"""What stands on every page is read once: a run that opens files, or asks of folders, waits for each."""

import os

from viz import ROOT


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
