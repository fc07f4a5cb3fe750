"""Mends of Streamlit's messages to browsers, as a public server has them."""

from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.runtime.forward_msg_queue import ForwardMsgQueue

from viz.streamlit_internals.hosted import discard_parts_of_lost_blocks


def block(fragment: str, *path: int) -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path[:] = path
    message.delta.fragment_id = fragment
    message.delta.add_block.SetInParent()
    return message


def text(fragment: str, *path: int) -> ForwardMsg:
    message = ForwardMsg()
    message.metadata.delta_path[:] = path
    message.delta.fragment_id = fragment
    message.delta.new_element.text.body = "a word"
    return message


def reference(*path: int) -> ForwardMsg:
    """An element that the browser has already."""
    message = ForwardMsg(ref_hash="hash")
    message.metadata.delta_path[:] = path
    return message


def left_of_run(*fragments: str) -> list[list[int]]:
    """The places of what a queue keeps of a run that is cut short, as these fragments begin anew."""
    queue = ForwardMsgQueue()
    for message in (
        text("", 0, 0),
        block("page", 0, 3),
        block("page", 0, 3, 8),
        reference(0, 3, 8, 1),
        block("section", 0, 3, 8, 2),
        text("section", 0, 3, 8, 2, 0),
        block("", 0, 4),
        text("share", 0, 4, 0),
    ):
        queue.enqueue(message)
    queue.clear(retain_lifecycle_msgs=True, fragment_ids_this_run=list(fragments))
    return [list(message.metadata.delta_path) for message in queue.flush()]


def test_sections_are_kept_without_page():
    """Streamlit's fault: when this fails, Streamlit has mended it, and the mend can go."""
    assert left_of_run("page") == [[0, 0], [0, 3, 8, 1], [0, 3, 8, 2], [0, 3, 8, 2, 0], [0, 4], [0, 4, 0]]


def test_parts_of_lost_blocks_are_discarded(monkeypatch):
    """All that lies in a forgotten container is forgotten; everything else is sent."""
    monkeypatch.setattr(ForwardMsgQueue, "clear", ForwardMsgQueue.clear)
    discard_parts_of_lost_blocks()
    assert left_of_run("page") == [[0, 0], [0, 4], [0, 4, 0]]
    assert left_of_run("section") == [[0, 0], [0, 3], [0, 3, 8], [0, 3, 8, 1], [0, 4], [0, 4, 0]]
    assert left_of_run("share")[-1] == [0, 4]
    queue = ForwardMsgQueue()
    queue.enqueue(block("page", 0, 3))
    assert len(queue.flush()) == 1 and queue.is_empty()
