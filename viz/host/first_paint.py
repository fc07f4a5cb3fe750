"""What the page that a browser is sent first has beside Streamlit's own: the app's style, and where the server is.

Streamlit brings the style with the first run, and its sidebar after an empty page: both would push what is there aside.
"""

import re

from viz import ASSETS

FRAME = """
@media (min-width: 768px) { .stApp:not(:has(.stSidebar)) .stAppViewContainer { padding-left: 300px; } }
.stSidebar:not(:has([data-testid="stSidebarNavItems"])) [data-testid="stSidebarUserContent"] { visibility: hidden; }
"""
"""The sidebar's place before it is there, and what stands below the pages hidden until they are."""

CONNECT = """window.__streamlit = {
  BACKEND_BASE_URL: new URL(".", location.href).href,
  HOST_CONFIG: { allowedOrigins: [location.origin], useExternalAuthToken: false },
};"""
"""Told where the server is, and that no other site's page may direct it, Streamlit's page connects at once. Left to
itself it asks for both before, and on every page but the first it asks in a wrong place before that."""


def style(*, embedded: bool) -> str:
    """The element; each rule counts more than Streamlit's own of the same kind, which are made after it."""
    rules = re.sub(r"/\*.*?\*/", "", (ASSETS / "style.css").read_text("utf8"), flags=re.DOTALL)
    return f"<style>:is(.stApp, .first) {{ {rules} }}{'' if embedded else FRAME}</style>"
