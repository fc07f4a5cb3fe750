"""Count what a message holds before Streamlit takes it apart: in a session its parts take up to 70 times its bytes."""

from collections.abc import Mapping

from streamlit.proto.BackMsg_pb2 import BackMsg


def check_size(message: BackMsg, most: Mapping[str, int]) -> None:
    """Refuse a message that holds too much.

    Args:
        message: from a browser.
        most: controls, bytes of the link, its parameters, bytes of all states of components, names of files.

    Raises:
        ValueError: if it has more of any of these than a page sends.
    """
    link, widgets = message.rerun_script.query_string, message.rerun_script.widget_states.widgets
    sizes = {
        "controls": len(widgets),
        "link": len(link),
        "parameters": link.count("&"),
        "states": sum(len(widget.json_value) + len(widget.json_trigger_value) for widget in widgets),
        "files": len(message.file_urls_request.file_names),
    }
    for name, size in sizes.items():
        if size > most[name]:
            raise ValueError(f"too much: {name}")
