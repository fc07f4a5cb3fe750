"""What of a link Streamlit keeps to itself: by its private names, as all in this folder."""

from urllib.parse import parse_qs

from streamlit.runtime.scriptrunner import get_script_run_ctx


def asked_of_streamlit(name: str) -> str:
    """A parameter of the link that Streamlit keeps to itself: embed, embed_options; "" if it is not there."""
    context = get_script_run_ctx()
    return parse_qs(context.query_string).get(name, [""])[-1] if context else ""
