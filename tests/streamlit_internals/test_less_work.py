"""What Streamlit is spared comes out as before: the theme's settings, and the values of a session."""

import pytest
from streamlit import config
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.state import SafeSessionState, SessionState

from viz.streamlit_internals.less_work import ask_for_one_value, read_values, work_out_once


def test_the_theme_is_read_once(monkeypatch):
    populate = app_session._populate_theme_msg
    monkeypatch.setattr(app_session, "_populate_theme_msg", populate)  # what it was, afterwards
    work_out_once()
    for section in ("theme.light", "theme.dark.sidebar"):
        one, other = CustomThemeConfig(), CustomThemeConfig()
        populate(one, section)
        app_session._populate_theme_msg(other, section)
        assert one.ByteSize() > 0
        assert other == one
    monkeypatch.setattr(config, "get_options_for_section", lambda section: {}[section])
    again = CustomThemeConfig()
    app_session._populate_theme_msg(again, "theme.dark.sidebar")
    assert again == one


def test_a_value_is_asked_for_alone_and_all_of_them_are_still_there(monkeypatch):
    monkeypatch.setattr(SafeSessionState, "filtered_state", SafeSessionState.filtered_state)
    inner = SessionState()
    safe = SafeSessionState(inner, lambda: None)
    inner["head"], inner["text"] = 7, None
    before = safe.filtered_state
    ask_for_one_value()
    values = safe.filtered_state
    assert dict(values) == before == {"head": 7, "text": None}
    assert len(values) == 2
    gathered = []
    monkeypatch.setattr(SessionState, "filtered_state", property(lambda _: gathered.append(1) or {}))
    assert "text" in values
    assert values["text"] is None
    assert "layer" not in values
    assert not gathered


def test_a_value_is_read_without_a_look_at_whether_the_run_is_to_end(monkeypatch):
    monkeypatch.setattr(SafeSessionState, "__getitem__", SafeSessionState.__getitem__)  # what it was, afterwards
    looks = []
    safe = SafeSessionState(SessionState(), lambda: looks.append(1))
    read_values()
    safe["head"] = 7
    assert looks, "whoever writes looks"
    looks.clear()
    assert safe["head"] == safe.head == 7
    with pytest.raises(KeyError):
        safe["layer"]
    assert not looks
