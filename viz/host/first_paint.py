"""The app's style in the page that a browser is sent first, so that nothing moves when the app comes into it.

Streamlit brings the style with the first run, and its sidebar after an empty page: both would push what is there aside.
"""

import re

from viz import ASSETS

FRAME = """
@media (min-width: 768px) { .stApp:not(:has(.stSidebar)) .stAppViewContainer { padding-left: 300px; } }
.stSidebar:not(:has([data-testid="stSidebarNavItems"])) [data-testid="stSidebarUserContent"] { visibility: hidden; }
"""
"""The sidebar's place before it is there, and what stands below the pages hidden until they are."""


def style(*, embedded: bool) -> str:
    """The element; each rule counts more than Streamlit's own of the same kind, which are made after it."""
    rules = re.sub(r"/\*.*?\*/", "", (ASSETS / "style.css").read_text("utf8"), flags=re.DOTALL)
    return f"<style>.stApp {{ {rules} }}{'' if embedded else FRAME}</style>"
