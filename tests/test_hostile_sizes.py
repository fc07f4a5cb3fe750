"""Everything that a user sends has a bound: accepted at the limit, refused one beyond. SECURITY.md lists all of them.

Bounds of pictures, messages and uploads as a whole are tested where they are enforced.
"""

import json
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from starlette.datastructures import Headers
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState

from pages.long_text.texts import FileError, decode
from pages.step_by_step.own_numbers.numbers import is_code
from tests.coroutines import finish
from tests.host.test_guard import HOST, Door
from tests.lessons.test_custom_lesson import squeezed
from viz import ROOT, limits
from viz.frame.mask_code import from_code
from viz.host.address import address_of
from viz.host.message_filter import MOST
from viz.host.uploads import Uploads
from viz.lessons import custom_lesson
from viz.lessons.custom_lesson import own_lesson, packed, unpacked
from viz.lessons.judge import LONGEST, read_number
from viz.lessons.lesson import OwnLessonError
from viz.streamlit_internals.hosted import message_type

STEP = {"page": "heads", "section": "all_heads"}


def refusal(read: Any, data: Any) -> str:
    with pytest.raises(OwnLessonError) as error:
        read(data)
    return error.value.code


# --- Messages and links ------------------------------------------------------------------------------------------


def controls(n: int) -> ClientState:
    state = ClientState()
    for number in range(n):
        state.widget_states.widgets.add(id=f"$$ID-0-{number}")
    return state


def states(n: int) -> ClientState:
    """Two states of components that hold so many bytes together."""
    state = ClientState()
    state.widget_states.widgets.add(id="$$ID-0-a", json_value="0" * (n // 2))
    state.widget_states.widgets.add(id="$$ID-0-b", json_trigger_value="0" * (n - n // 2))
    return state


MAKERS = {
    "controls": (controls, limits.MESSAGE_CONTROLS),
    "states": (states, limits.MESSAGE_STATES),
    "link": (lambda n: ClientState(query_string="a" * n), limits.MESSAGE_LINK),
    "parameters": (lambda n: ClientState(query_string="&" * n), limits.LINK_PARAMETERS),
}


@pytest.mark.parametrize("name", MAKERS)
def test_message_at_limit_accepted(name):
    """A message with the most of anything passes; with one more it is no message of a page."""
    make, most = MAKERS[name]
    assert message_type(BackMsg(rerun_script=make(most)).SerializeToString(), MOST) == "rerun_script"
    with pytest.raises(ValueError, match=f"too much: {name}"):
        message_type(BackMsg(rerun_script=make(most + 1)).SerializeToString(), MOST)


@pytest.mark.parametrize("more", [0, 1])
def test_link_parameters_at_limit_accepted(more):
    """A link with more parameters than any page has is refused before it is taken apart."""
    door, query = Door(), b"a=1" + b"&a=1" * (limits.LINK_PARAMETERS + more)
    (answer, *_) = finish(door.knock("http", "/", HOST, method="GET", query_string=query))
    assert (answer["status"], door.requests) == ((400, []) if more else (200, ["/"]))
    assert door.readiness.refusals["parameters"] == more


@pytest.mark.parametrize("length", ["9" * 5_000, "9" * 21])
def test_upload_length_of_many_digits_refused(length):
    """Python reads no number of thousands of digits: that is a refusal, not an error."""
    answer = Uploads().refusal("nobody", Headers({"content-length": length}))
    assert answer is not None
    assert answer.status_code == 411


@pytest.mark.parametrize("entry", [",", "1,", ":", "1", "f:", "1.", "["])
def test_address_of_long_header_is_one(entry):
    """X-Forwarded-For as long as a request's head may be is one address, or the header is none."""
    headers = Headers({"x-forwarded-for": entry * (limits.HEAD_BYTES // len(entry))})
    assert address_of({"type": "http", "client": ("203.0.113.7", 1)}, headers, 1)


# --- Lessons -----------------------------------------------------------------------------------------------------


def test_unpacked_bytes_at_limit_accepted():
    """The content of a link is unpacked up to the limit of bytes, and refused above it."""
    table = packed({"title": "", "step": [STEP]})
    text = json.dumps(unpacked(table)).encode().ljust(limits.OWN_LESSON_BYTES)
    assert own_lesson(squeezed(text)).steps[0].page == "heads"
    assert refusal(unpacked, squeezed(text + b" ")) == "large"


def test_unpacked_code_at_limit_accepted(monkeypatch):
    """A code of as many characters as there may be is unpacked, one more is not."""
    code = packed({"title": "", "step": [STEP]})
    monkeypatch.setattr(custom_lesson.limits, "OWN_LESSON_LINK", len(code))
    assert unpacked(code)["step"] == [STEP]
    assert refusal(unpacked, f"{code}A") == "large"


def test_unpacked_deep_json_refused(monkeypatch):
    """JSON that nests deeper than its parser can go is a sentence, not an error."""
    monkeypatch.setattr(custom_lesson.json, "loads", Mock(side_effect=RecursionError))
    assert refusal(unpacked, squeezed(b"{}")) == "broken"


# --- Texts and numbers -------------------------------------------------------------------------------------------


def test_decode_file_at_limit_accepted():
    """A text file of as many bytes as there may be is read."""
    assert len(decode(b"a" * limits.LONG_BYTES)) == limits.LONG_BYTES
    with pytest.raises(FileError, match="large"):
        decode(b"a" * (limits.LONG_BYTES + 1))


def test_read_number_at_limit_accepted():
    """A number of as many characters as there may be is read."""
    assert read_number("0." + "1" * (LONGEST - 2)) == pytest.approx(1 / 9)
    assert read_number("0." + "1" * (LONGEST - 1)) is None


@pytest.mark.parametrize("code", ["9" * 64_000 + ".A", "9999." + "A" * 64_000, "1." + "A" * 64_000])
def test_from_code_long_mask_refused(code):
    """A painted mask has as many cells as its side says, and a side of four digits."""
    with pytest.raises(ValueError, match="code="):
        from_code(code)


def test_is_code_long_numbers_refused():
    """An example of one's own is not matched if it is longer than the largest one."""
    assert not is_code("x111." + "A" * 1_000_000)


# --- The list ----------------------------------------------------------------------------------------------------


def test_security_names_every_bound():
    """The table in SECURITY.md has the name of every limit that is tested here."""
    text = Path(ROOT / "SECURITY.md").read_text("utf8")
    names = {name for name in vars(limits) if name.startswith(("MESSAGE_", "OWN_LESSON_", "PICTURE_"))}
    names |= {"HEAD_BYTES", "LINK_PARAMETERS", "CHARACTERS", "LONG_BYTES", "ATLAS_LINES", "LOOKED_UP"}
    missing = {name for name in names - {"MESSAGES_A_SECOND", "MESSAGES_AT_ONCE"} if f"`{name}`" not in text}
    assert missing == set()
