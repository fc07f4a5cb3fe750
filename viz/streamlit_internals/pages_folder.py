"""The folder called pages, which Streamlit takes for pages of its old kind of app until a script has had one run.

The first user of a process then gets "Page not found" over a page that is opened by its own address. Upstream: a folder
of that name decides it for the whole process (``PagesManager``, Streamlit 1.36 to 1.67), and no setting says otherwise.
Without the private name that first user has to close the message.
"""

from viz.streamlit_internals.optional import find

_PLACE, _FLAG = "streamlit.runtime.pages_manager:PagesManager", "uses_pages_directory"


def uses_pages_folder() -> bool:
    """Return whether Streamlit still takes the folder for pages of its old kind of app."""
    return bool(getattr(find(_PLACE), _FLAG, False))


def ignore_pages_folder() -> None:
    """Have Streamlit leave the folder alone, in the whole process."""
    manager = find(_PLACE)
    if hasattr(manager, _FLAG):
        setattr(manager, _FLAG, False)
