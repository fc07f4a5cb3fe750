"""Uploaded files that a server no longer has: a sentence asks for them again, on every page that takes a file."""

import re

import pytest
from streamlit.testing.v1.local_script_runner import LocalScriptRunner

from viz import ROOT
from viz.text import LANGUAGES, translator

UPLOADS = {
    "_upload": ("convolution", {"picture": "upload", "section": "picture"}, ("a.png", b"no picture", "image/png")),
    "_long_file": (
        "long_text",
        {"long_from": "file", "source": "words", "d_model": 8, "n_heads": 2},
        ("a.txt", b"one two three", "text/plain"),
    ),
}
"""Every control that takes a file: its page, a link to it, and a file."""


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize("key", UPLOADS)
def test_lost_upload_is_asked_for_again(open_app, monkeypatch, key, lang):
    """The browser still names a file that this server does not have."""
    (page, link, file), lost = UPLOADS[key], translator(lang)("error.upload_lost")
    app = open_app(page, lang=lang, **link)
    app.file_uploader(key=key).set_value(file).run()
    assert lost not in [box.value for box in app.warning]
    monkeypatch.setattr(LocalScriptRunner, "register_file", lambda *_: None)
    app.run()
    assert [box.value for box in app.warning].count(lost) == 1
    assert not app.exception and not app.error
    monkeypatch.undo()
    app.run()
    assert lost not in [box.value for box in app.warning], "it was uploaded again"


def test_uploaders_are_all_tried_here():
    """Only one module draws an uploader, so that each is read with care; all its calls have an entry above."""
    calls = {}
    for path in [*(ROOT / "pages").rglob("*.py"), *(ROOT / "viz").rglob("*.py")]:
        source = path.read_text("utf8")
        assert path.name == "uploads.py" or "st.file_uploader(" not in source, path
        calls |= dict.fromkeys(re.findall(r"file_uploader\([^()]*\([^()]*\), \"(\w+)\"", source))
    assert calls.keys() == UPLOADS.keys()
